git status; echo $?; git log; echo $?
mkdir r; cd r; git init -q; git log; echo $?; echo a > a; git add a; git commit -m x; echo $?; git config user.name n; git config user.email e@x; git commit -qm x; echo $?; git commit -m y; echo $?
git checkout nope; echo $?; git diff nope; echo $?; git frobnicate; echo $?; git log nope; echo $?; git show HEAD:nope; echo $?; git show HEAD:a; git rm nope; echo $?; git mv nope b; echo $?; git branch -d nope; echo $?; git branch 'a b'; echo $?; git tag -d nope; echo $?
git rev-parse nope; echo $?; git rev-parse --verify -q nope; echo $?; git add ../..; echo $?; git restore nope; echo $?; git switch nope; echo $?; git commit --amend --no-edit -q; echo $?; git merge nope; echo $?; git stash drop; echo $?; git reset nope; echo $?
echo b >> a; git rm a; echo $?; git branch x; echo c > c; git add c; git commit -qm c; git checkout -q x; echo other > c; git checkout master; echo $?; rm c; git checkout -q master; echo d >> c; git checkout x; echo $?
