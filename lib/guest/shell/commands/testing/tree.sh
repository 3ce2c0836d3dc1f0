# The tree of the recorded answers: names with spaces and UTF-8, links, hidden and binary files, fixed times.
mkdir -p src/lib/deep docs .hidden 'with space' node_modules/pkg empty
printf 'alpha\nBeta foo\ngamma\nfoo bar foo\n# TODO: fix\n' > a.txt
printf 'def main():\n    print("hello")\n    return 0\n\nclass Foo(Bar):\n    pass\n' > src/main.py
printf 'import os\nfoo = 1\n# TODO later\nFOO = 2\n' > src/lib/util.py
printf 'deep foo\nérable café\nnaïve ＴＥＳＴ\n' > src/lib/deep/uni.txt
printf 'module.exports = { foo: 1 };\n' > node_modules/pkg/index.js
printf '# Title\n\nSome text with foo.\n' > docs/readme.md
printf 'secret foo\n' > .hidden/s
printf 'x y\n' > 'with space/f 1.txt'
printf 'é' > 'é.txt'
printf 'bin\0ary foo\nline2 foo\n' > bin.dat
printf 'no newline foo' > nonl.txt
: > empty.txt
printf '%3000s' '' | tr ' ' x > big.log
ln -s a.txt link.txt
ln -s src dirlink
ln -s nowhere broken
chmod 755 src/main.py; chmod 600 docs/readme.md
touch -d '2024-01-02 03:04:05' a.txt src/main.py src docs
touch -d '2020-06-01 00:00:00' docs/readme.md
touch -d '2025-03-04 05:06:07' .hidden 'with space' node_modules empty src/lib src/lib/deep bin.dat nonl.txt empty.txt big.log é.txt node_modules/pkg src/lib/util.py src/lib/deep/uni.txt 'with space/f 1.txt' node_modules/pkg/index.js .hidden/s
touch -h -d '2025-03-04 05:06:07' link.txt dirlink broken 2>/dev/null || true
