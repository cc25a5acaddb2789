#!/bin/bash
# One column of a summary.csv as a Markdown table, a row for each algorithm and a column for each workload; a cell whose audit
# was broken is marked with *.      pivot.sh SUMMARY.CSV COLUMN
set -euo pipefail
mlr --icsv --ocsv cut -o -f "algorithm,workload,$2,audit" "$1" | awk -F, '
NR == 1 { next }
!($1 in row) { row[$1] = ++rows; name[rows] = $1 }
!($2 in column) { column[$2] = ++columns; head[columns] = $2 }
{ cell[row[$1], column[$2]] = ($3 == "0" ? "." : $3) ($4 == "broken" ? " *" : "") }
END {
    printf "| |"; for (c = 1; c <= columns; c++) printf " %s |", head[c]
    printf "\n|---|"; for (c = 1; c <= columns; c++) printf "---:|"
    for (r = 1; r <= rows; r++) {
        printf "\n| `%s` |", name[r]
        for (c = 1; c <= columns; c++) printf " %s |", cell[r, c]
    }
    printf "\n"
}'
