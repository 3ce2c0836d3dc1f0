export GIT_AUTHOR_DATE='1700000000 +0000' GIT_COMMITTER_DATE='1700000000 +0000'
git config --global user.name 'A B'; git config --global user.email a@b.c
mkdir r; cd r; git init -q
cat > m.py <<'P'
import os


def first(a):
    if a:
        return 1
    return 2


def second(b):
    for i in range(b):
        print(i)
    return None


class Thing:
    def one(self):
        pass

    def two(self):
        pass
P
git add .; git commit -qm base
cat > m.py <<'P'
import os
import sys


def first(a):
    if a:
        return 1
    if a is None:
        return 3
    return 2


def between(c):
    for i in range(c):
        print(i)
    return None


def second(b):
    for i in range(b):
        print(i, file=sys.stderr)
    return None


class Thing:
    def one(self):
        pass

    def and_a_half(self):
        pass

    def two(self):
        pass
P
git diff; git diff -U0; git diff --stat
seq 1 60 | sed 's/$/ line/' > long; git add long; git commit -qm long; sed -i '3d;10s/$/ new/' long; sed -i '50,52d' long; mkdir -p some/very/long/folder/name/that/goes/on/and/on/for/quite/a/while; cp long some/very/long/folder/name/that/goes/on/and/on/for/quite/a/while/copy.txt; git add -A; git diff --cached --stat; git diff --cached long; git commit -qm more; cp m.py n.py; echo '# end' >> n.py; git rm -q m.py; git add n.py; git status -s; git diff --cached -M --stat; git diff --cached; git commit -m 'rename it'; git log --stat -1 --format=%s; git log -p -1 --oneline
