export GIT_AUTHOR_DATE='1700000000 +0000' GIT_COMMITTER_DATE='1700000000 +0000'
git config --global user.name 'A B'; git config --global user.email a@b.c
mkdir r; cd r; git init -q; seq 1 20 > n.txt; git add .; git commit -qm base
git checkout -q -b side; sed -i 's/^10$/side/' n.txt; echo only > side.txt; git add -A; git commit -qm side
git checkout -q master; sed -i 's/^10$/main/' n.txt; git commit -qam main
git merge side; echo $?; git status; git status -s; cat n.txt | head -18; git ls-files -u; git diff; git diff --cached; git commit -m no; echo $?
git merge --abort; git status -s; git merge side; seq 1 20 > n.txt; git add n.txt; git status; git commit --no-edit; git log --oneline; git log -1 --format=%B; git rev-parse HEAD
git checkout -q HEAD~1; git status; git branch; git log --oneline -1; git checkout -q -; git branch -v
git checkout -q -b other HEAD~1; sed -i 's/^1$/first/' n.txt; git commit -qam other; git checkout -q master; sed -i 's/^20$/last/' n.txt; git commit -qam last; git merge -q other -m both; cat n.txt | sed -n '1p;20p'; git log --oneline | wc -l; git merge other; git log --merges --format=%s
git checkout -q -b gone HEAD~1; git rm -q side.txt; git commit -qm gone; git checkout -q master; echo more >> side.txt; git commit -qam more; git merge gone; echo $?; git status -s; git status
git merge --abort; git merge-base master gone; git merge --ff-only gone; echo $?; git checkout -q gone; git merge nope; echo $?
git checkout -q master; git checkout -q -b l; cat > code.c <<'P'
int one(void)
{
  return 1;
}

int two(void)
{
  int a = 1;
  int b = 2;
  return a + b;
}

int three(void)
{
  return 3;
}
P
git add -A; git commit -qm code; git checkout -q -b right; sed -i 's/a = 1/a = 10/; s/return 3/return 33/' code.c; git commit -qam right; git checkout -q l; sed -i 's/a = 1/a = 11/; s/return 1/return 100/' code.c; git commit -qam left; git merge right; git diff; git diff --name-only; git diff --name-status; sed -i '/^<<<<<<</d; /^=======/d; /^>>>>>>>/d; s/a = 11/a = 12/' code.c; git diff; git commit -qam resolved; git show; git show --stat --format=%s; git log -p -1 --format=%s
