export GIT_AUTHOR_DATE='1700000000 +0000' GIT_COMMITTER_DATE='1700000000 +0000'
git config --global user.name 'A B'; git config --global user.email a@b.c
mkdir r; cd r
git init
git status
printf 'one\ntwo\nthree\n' > a.txt; mkdir -p src/deep; printf 'def f():\n    return 1\n\ndef g():\n    return 2\n' > src/x.py; echo 'é' > 'na me é.txt'
git status; git status -s; git status --porcelain
git add a.txt
git status -s; git status
git add .
git commit -m 'first'
git log; git log --oneline
git status
printf 'one\n2\nthree\nfour\n' > a.txt
git diff; git diff --stat; git diff --name-only
git add a.txt; git diff; git diff --cached
echo more >> a.txt; git status; git status -s
git commit -am 'second

body line'
git log; git log --oneline; git log -1 --format='%H|%h|%an|%ae|%s|%b|%ad'
git log --stat; git log -p -1
git diff HEAD~1 HEAD; git diff HEAD~1..HEAD --stat
git mv a.txt b.txt; git status -s; git status; git commit -qm ren; git show --stat; git show HEAD --format=%s
git rm src/x.py; git status; git commit -m 'rm'
git branch feature; git branch; git checkout feature; echo f > f.txt; git add f.txt; git commit -qm 'f'
git checkout master 2>&1; git merge feature
git log --oneline
git switch -c two 2>&1; echo t1 > t; git add t; git commit -qm t1; git switch master 2>&1; echo m > m; git add m; git commit -qm m1; git merge two -m 'merge two'; git log --oneline; git log -1
git tag v1; git tag -a v2 -m 'ver two'; git tag; git show v2 --stat
git rev-parse HEAD; git rev-parse --abbrev-ref HEAD; git rev-parse --short HEAD; git rev-parse --show-toplevel | sed 's,.*/,,'
git ls-files; git ls-files -s
echo x > b.txt; git checkout -- b.txt 2>&1; git status -s; echo x > b.txt; git restore b.txt; git status -s
echo y >> b.txt; git add b.txt; git restore --staged b.txt; git status -s; git reset --hard 2>&1; git reset --soft HEAD~1; git status -s; git reset; git status -s
