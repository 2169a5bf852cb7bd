# Completion in the shells themselves: commands, options and their values.
# shellcheck disable=SC2154 # bats and common.bash set status, output, stderr and photo
load common

@test "fish completes commands, options and values" {
    command -v fish >/dev/null || skip "no fish"
    mkdir bin home
    ln -s "$(realpath "$LAPEDGE")" bin/lapedge
    complete()
    {
        HOME=$PWD/home PATH=$PWD/bin:$PATH fish -N -c "source '$repo/tools/release/completion/lapedge.fish'; complete -C '$1'" |
            cut -f 1 | sort | paste -sd' '
    }
    [[ " $(complete 'lapedge sta') " == *" stats "* ]]
    [ "$(complete 'lapedge --threa')" = "--threads=" ]
    [ "$(complete 'lapedge --range=')" = "--range=abs --range=clamp" ]
    [ "$(complete 'lapedge stats --border=refl')" = "--border=reflect --border=reflect101" ]
    [ "$(complete 'lapedge bench --omp-loop=')" = "--omp-loop=window --omp-loop=x --omp-loop=y" ]
    [ -z "$(complete 'lapedge stats --qual')" ] # not an option of stats
    [[ " $(complete 'lapedge help trans') " == *" transform "* ]]
    # What an option does stands beside it.
    HOME=$PWD/home PATH=$PWD/bin:$PATH fish -N -c "source '$repo/tools/release/completion/lapedge.fish'
        complete -C 'lapedge --inver'" | grep -q "dark edges on white"
}

@test "zsh completes commands, options and values" {
    command -v zsh >/dev/null || skip "no zsh"
    needs_terminal
    python3 "$BATS_TEST_DIRNAME/zsh.py" "$LAPEDGE" "$repo/tools/release/completion"
}
