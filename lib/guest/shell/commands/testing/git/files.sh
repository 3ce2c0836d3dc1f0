export GIT_AUTHOR_DATE='1700000000 +0000' GIT_COMMITTER_DATE='1700000000 +0000'
git config --global user.name 'A B'; git config --global user.email a@b.c
mkdir r; cd r; git init -q
seq 1 20 > n.txt; printf 'a\nb' > nonl; printf '\0\1\2' > bin; ln -s n.txt lnk; echo '#!/bin/sh' > run.sh; chmod +x run.sh
printf '*.log\nbuild/\n!keep.log\n' > .gitignore; mkdir build sub; echo x > build/o; echo l > a.log; echo k > keep.log; echo s > sub/s.txt
git status -s; git status --ignored -s; git add a.log; echo $?; git add nothere; echo $?; git add -A; git commit -qm base; echo $?; git ls-files
chmod -x run.sh; printf 'a\nb\nc\n' > nonl; printf '\0\1\2\3' > bin; ln -sf run.sh lnk; sed -i 's/^5$/five/; s/^15$/fifteen/' n.txt
git diff; git diff --stat; git diff --numstat; git diff --name-status; git diff -U1 n.txt; git diff --shortstat; git diff --quiet; echo $?
git commit -qam two; git show --summary --format=%h; git log --name-status --oneline; git log --name-only --format=%s -1
cd sub; git status; echo z > z.txt; git status; git status -s; git status --porcelain; git ls-files; git add .; git diff --cached --name-only; git log --oneline -- s.txt; git log --oneline s.txt; cd ..
git ls-tree HEAD; git ls-tree -r --name-only HEAD; git cat-file -t HEAD; git cat-file -p HEAD^{tree}; git hash-object n.txt; git show HEAD:n.txt | head -2; git rev-list --count HEAD
git mv n.txt sub/; git mv sub subs; git status -s; git commit -qm moved; git log --oneline --follow subs/n.txt; git show --stat; git rm -r --cached -q subs; git status -s; git reset -q; git rm subs/n.txt; git status
git config --list --local | grep -v ^core; git config user.name; git config no.such; echo $?; git config a.b 'c d'; git config a.b; git config --unset a.b; git config a.b; echo $?
