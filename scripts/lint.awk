# Checks C files line by line: layers, own header first, lengths, calls that are not allowed. Prints `file:line: what`.
#   awk -f scripts/lint.awk scripts/layers.txt FILE...
# A line that must call what is not allowed says so and why: free(line); /* lint: free, getline allocated it */

function ban(names, kept, why,    list, count, i) {
    count = split(names, list, " ")
    for (i = 1; i <= count; i++) {
        banned[list[i]] = why
        allowed_in[list[i]] = kept
    }
}

BEGIN {
    function_lines_max = 70
    file_lines_max = 600
    ban("malloc calloc realloc reallocarray free strdup strndup aligned_alloc posix_memalign", "^(sim/base/memory\\.c|bench/|tests/)",
        "memory comes from sim/base/memory.h")
    ban("sin cos tan asin acos atan atan2 sinh cosh tanh exp exp2 expm1 log log2 log10 log1p pow sqrt cbrt hypot erf " \
        "erfc lgamma tgamma expf logf powf sqrtf", "^(sim/lab/|bench/|tests/)",
        "libm's last bit differs between machines, so it is for sim/lab alone")
    ban("rand srand random srandom rand_r drand48 lrand48", "^$", "chance comes from sim/base/random.h")
    ban("time gettimeofday clock_gettime clock ftime", "^(sim/lab/|sim/cli/|bench/|tests/)", "no wall clock where time is simulated")
    ban("setlocale uselocale", "^$", "results do not depend on the locale")
    ban("strtok", "^$", "keeps hidden state; strtok_r or strcspn")
    ban("sprintf vsprintf strcpy strcat gets", "^$", "does not know where the buffer ends; snprintf or sim/base/text.h")
    ban("atoi atol atoll atof", "^$", "cannot report a mistake; strtol and its like")
    ban("alloca", "^$", "the stack has no message for its end")
}

# Blanks comments, strings and characters, so that only code is left. Keeps `in_comment` from line to line.
function code_of(line,    out, two, one, closing) {
    out = ""
    while (line != "") {
        if (in_comment) {
            closing = index(line, "*/")
            if (closing == 0) {
                return out
            }
            line = substr(line, closing + 2)
            in_comment = 0
            continue
        }
        if (!match(line, /\/\*|\/\/|["']/)) {
            return out line
        }
        out = out substr(line, 1, RSTART - 1)
        one = substr(line, RSTART, 1)
        two = substr(line, RSTART, 2)
        line = substr(line, RSTART)
        if (two == "//") {
            return out
        }
        if (two == "/*") {
            in_comment = 1
            line = substr(line, 3)
        } else {
            line = substr(line, 2)
            while (line != "" && substr(line, 1, 1) != one) {
                line = substr(line, substr(line, 1, 1) == "\\" ? 3 : 2)
            }
            line = substr(line, 2)
            out = out one one
        }
    }
    return out
}

function problem(what) {
    printf "%s:%d: %s\n", FILENAME, FNR, what
}

function folder(path) {
    sub(/\/[^\/]*$/, "", path)
    return path
}

# May `from` include what lies in `to`?
function may(from, to,    below, count, i) {
    if (from == to) {
        return 1
    }
    count = split(directly[from], below, " ")
    for (i = 1; i <= count; i++) {
        if (may(below[i], to)) {
            return 1
        }
    }
    return 0
}

function check_include(path,    own) {
    own = FILENAME
    sub(/\.c$/, ".h", own)
    if (included++ == 0 && FILENAME ~ /\.c$/ && path != own && (getline ignored < own) >= 0) {
        problem("include \"" own "\", its own header, first")
    }
    close(own)
    if (path == "" || FILENAME ~ /^(bench|tests)\//) {
        return
    }
    if (path !~ /\//) {
        problem("write the include from the root of the tree: \"" folder(FILENAME) "/" path "\"")
    } else if (!may(folder(FILENAME), folder(path))) {
        problem(folder(FILENAME) " may not include " path " (scripts/layers.txt)")
    }
}

function check_calls(code,    rest, name, before, before_name) {
    rest = code
    before = ""
    while (match(rest, /[A-Za-z_][A-Za-z_0-9]*[ ]*\(/)) {
        before = before substr(rest, 1, RSTART - 1)
        name = substr(rest, RSTART, RLENGTH)
        before_name = before
        before = before name
        rest = substr(rest, RSTART + RLENGTH)
        sub(/[ ]*\($/, "", name)
        if (name in banned && index($0, "lint: " name) == 0 && FILENAME !~ allowed_in[name] && before_name !~ /(\.|->)[ ]*$/) {
            problem("no " name "() here: " banned[name])
        }
    }
}

function check_length(code) {
    if (in_function == 0 && code ~ /\)[ ]*\{[ ]*$/ && code !~ /^#/) {
        in_function = FNR
    } else if (in_function > 0 && code ~ /^}/) {
        if (FNR - in_function + 1 > function_lines_max) {
            printf "%s:%d: a function of %d lines; at most %d\n", FILENAME, in_function, FNR - in_function + 1,
                function_lines_max
        }
        in_function = 0
    }
}

function end_file() {
    if (file_lines > file_lines_max) {
        printf "%s:%d: a file of %d lines; at most %d\n", file, file_lines_max + 1, file_lines, file_lines_max
    }
}

FILENAME ~ /layers\.txt$/ {
    if ($0 !~ /^#/ && NF > 0) {
        layer = $1
        sub(/:$/, "", layer)
        directly[layer] = $0
        sub(/^[^:]*:/, "", directly[layer])
    }
    next
}

FNR == 1 {
    end_file()
    file = FILENAME
    in_comment = included = in_function = 0
    if ($0 !~ /^\/\*/ && FILENAME ~ /\.h$/) {
        problem("opens without a comment that says what it is")
    }
    if (FILENAME !~ /^(bench|tests)\// && !(folder(FILENAME) in directly)) {
        problem(folder(FILENAME) " is no layer (scripts/layers.txt)")
    }
}

{
    file_lines = FNR
    if (match($0, /^#[ ]*include[ ]*"/)) {
        path = substr($0, RSTART + RLENGTH)
        sub(/".*/, "", path)
        check_include(path)
    } else if ($0 ~ /^#[ ]*include[ ]*</) {
        check_include("")
    }
    code = code_of($0)
    check_calls(code)
    check_length(code)
}

END {
    end_file()
}
