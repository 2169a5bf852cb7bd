# Completion of lapedge for bash: commands, options and their values, as the program itself lists them.

_lapedge_words() # what `lapedge __complete ...` says, one per line
{
    "${COMP_WORDS[0]}" __complete "$@" 2>/dev/null
}

_lapedge()
{
    local cur prev command=run option operands i
    COMPREPLY=()
    # "--kernel=log5" without readline's breaking at "=".
    _get_comp_words_by_ref -n = cur prev 2>/dev/null ||
        { cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}; }

    for ((i = 1; i < COMP_CWORD; i++)); do
        [[ ${COMP_WORDS[i]} == -- ]] && break
        [[ ${COMP_WORDS[i]} == -* ]] && continue
        if _lapedge_words | grep -qx -e "${COMP_WORDS[i]}"; then command=${COMP_WORDS[i]}; fi
        break
    done

    case $cur in
    --*=*)
        option=${cur%%=*}
        mapfile -t COMPREPLY < <(compgen -W "$(_lapedge_words "$command" "$option")" -- "${cur#*=}")
        # A value without known words is usually a file.
        ((${#COMPREPLY[@]})) || mapfile -t COMPREPLY < <(compgen -f -- "${cur#*=}")
        [[ $COMP_WORDBREAKS == *=* ]] || COMPREPLY=("${COMPREPLY[@]/#/$option=}")
        ;;
    -*)
        mapfile -t COMPREPLY < <(compgen -W "$(_lapedge_words "$command")" -- "$cur")
        [[ ${COMPREPLY[0]-} != *= ]] || compopt -o nospace 2>/dev/null
        ;;
    *)
        if [[ $prev == -b || $prev == --backend ]]; then
            mapfile -t COMPREPLY < <(compgen -W "$(_lapedge_words "$command" --backend)" -- "$cur")
            return
        fi
        ((COMP_CWORD > 1)) || mapfile -t COMPREPLY < <(compgen -W "$(_lapedge_words)" -- "$cur")
        operands=$(_lapedge_words "$command" operands)
        if [[ $operands ]]; then
            mapfile -t COMPREPLY < <(compgen -W "$operands" -- "$cur")
        else
            mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$cur")
            compopt -o filenames 2>/dev/null
        fi
        ;;
    esac
}

complete -F _lapedge lapedge
