# Draws throughput.svg from summary.csv; edit it and run: gnuplot throughput.gp
set terminal svg size 1280,800 dynamic font "Helvetica,20" noenhanced dashlength 0.7 background rgb "white"
if (!exists('picture')) picture = 'throughput.svg'
set output picture
set datafile separator comma
set datafile missing NaN
set datafile columnheaders
set title 'Does optimistic control survive a hot row? (8 CPUs)' font ',24'
set xlabel 'terminals'
set ylabel 'throughput (commits/s)'
set border 3 linewidth 1.5
set tics nomirror
set grid linecolor rgb '#DDDDDD' linetype 1
set key outside right top vertical Left reverse samplen 3 spacing 1.4
set errorbars 0.7
set logscale x 2
set xtics ('1' 1, '2' 2, '4' 4, '8' 8, '16' 16, '32' 32, '64' 64, '128' 128)
set xrange [0.864537231:148.056088]
set yrange [0:155.760189]
set format y '%g'
number(name) = strlen(strcol(name)) > 0 ? column(name) : NaN
x_of(row) = number('system.terminals')
y_of(row) = number('throughput_tps')
half(row) = strlen(strcol('throughput_tps_ci95')) > 0 ? column('throughput_tps_ci95') : 0
high(row) = y_of(row) + half(row)
low(row) = y_of(row) - half(row)
in_1(row) = strcol('algorithm') eq '2pl'
in_2(row) = strcol('algorithm') eq 'occ'
in_3(row) = strcol('algorithm') eq 'si'
in_4(row) = strcol('algorithm') eq 'wait-die'
in_5(row) = strcol('algorithm') eq 'wound-wait'
in_6(row) = strcol('algorithm') eq 'no-wait'
plot 'summary.csv' using (in_1(0) ? x_of(0) + 0 : NaN):(y_of(0)):(low(0)):(high(0)) with yerrorlines linecolor rgb '#0072B2' linewidth 5.0 dashtype 1 pointtype 7 pointsize 2.3 title '2pl', \
     'summary.csv' using (in_2(0) ? x_of(0) + 0 : NaN):(y_of(0)):(low(0)):(high(0)) with yerrorlines linecolor rgb '#D55E00' linewidth 4.5 dashtype 2 pointtype 5 pointsize 2.1 title 'occ', \
     'summary.csv' using (in_3(0) ? x_of(0) + 0 : NaN):(y_of(0)):(low(0)):(high(0)) with yerrorlines linecolor rgb '#009E73' linewidth 4.0 dashtype 3 pointtype 9 pointsize 1.9 title 'si', \
     'summary.csv' using (in_4(0) ? x_of(0) + 0 : NaN):(y_of(0)):(low(0)):(high(0)) with yerrorlines linecolor rgb '#CC79A7' linewidth 3.5 dashtype 4 pointtype 13 pointsize 1.7 title 'wait-die', \
     'summary.csv' using (in_5(0) ? x_of(0) + 0 : NaN):(y_of(0)):(low(0)):(high(0)) with yerrorlines linecolor rgb '#E69F00' linewidth 3.0 dashtype 5 pointtype 11 pointsize 1.5 title 'wound-wait', \
     'summary.csv' using (in_6(0) ? x_of(0) + 0 : NaN):(y_of(0)):(low(0)):(high(0)) with yerrorlines linecolor rgb '#56B4E9' linewidth 2.5 dashtype 1 pointtype 4 pointsize 1.3 title 'no-wait'
