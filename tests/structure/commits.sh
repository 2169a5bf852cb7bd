#!/bin/bash
# Subjects of commits have at most 72 columns (CONTRIBUTING.md), since the rule was made. Without the history (a
# tarball, a shallow clone) there is nothing to look at.
. tests/support/tap.sh
since=f6b0121513823babe1ef369acc3e9a2ad293529a

short_subjects()
{
    ! git log --no-merges --format='%h %s' "$since..HEAD" | awk 'length($0) - length($1) - 1 > 72' | grep .
}

if git merge-base --is-ancestor $since HEAD 2>/dev/null; then
    check "$(git rev-list --count --no-merges $since..HEAD) commits have subjects of at most 72 columns" short_subjects
else
    skip "commits have subjects of at most 72 columns" "no history back to the commit that made the rule"
fi
finish
