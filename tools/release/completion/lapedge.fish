# Completion of lapedge for fish: commands, options and their values, as the program itself lists them.

function __lapedge_command
    set -l words (commandline -opc)
    for word in $words[2..-1]
        string match -q -- '-*' $word; and continue
        if contains -- $word ($words[1] __complete 2>/dev/null)
            echo $word
            return
        end
        break
    end
    echo run
end

function __lapedge_words
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l command (__lapedge_command)
    if string match -q -- '--*=*' $current
        set -l option (string split -m1 = -- $current)[1]
        for value in ($words[1] __complete $command $option 2>/dev/null)
            echo "$option=$value"
        end
    else if string match -q -- '-*' $current
        $words[1] __describe $command 2>/dev/null
    else
        test (count $words) -eq 1; and $words[1] __complete 2>/dev/null
        $words[1] __complete $command operands 2>/dev/null
    end
end

# Whether the program lists all words there are: then the value is not a file.
function __lapedge_is_listed
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l asked operands
    string match -q -- '--*=*' $current; and set asked (string split -m1 = -- $current)[1]
    test -n "$($words[1] __complete (__lapedge_command) $asked 2>/dev/null | string collect)"
end

complete -c lapedge -f -n __lapedge_is_listed
complete -c lapedge -a '(__lapedge_words)'
