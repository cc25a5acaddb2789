# Prints the fenced blocks of one kind (-v kind=sh) of a Markdown file. Of kind sh: one command a line, a backslash at a
# line's end joins, lines that are comments are left out.
/^```/ {
    inside = !inside && $0 == "```" kind
    next
}
!inside { next }
kind != "sh" {
    print
    next
}
/^[ \t]*(#|$)/ { next }
{
    line = line $0
    if (sub(/\\$/, "", line)) next
    print line
    line = ""
}
