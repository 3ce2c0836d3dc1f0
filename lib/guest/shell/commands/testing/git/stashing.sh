export GIT_AUTHOR_DATE='1700000000 +0000' GIT_COMMITTER_DATE='1700000000 +0000'
git config --global user.name 'A B'; git config --global user.email a@b.c
mkdir r; cd r; git init -q; seq 1 9 > n.txt; git add .; git commit -qm base; git stash; git stash list; echo ten >> n.txt; echo u > u.txt; echo s > s.txt; git add s.txt
git stash; git status -s; git stash list; git stash show; git stash show -p; git stash pop; git status -s
git stash -u -m 'my msg'; git status -s; git stash list; git stash apply -q; git status -s; git stash drop; git stash list; git stash pop; echo $?
git commit -qam two; echo x >> n.txt; git stash -q; sed -i 's/ten/10/' n.txt; git commit -qam three; git stash pop; echo $?; git status -s; git reset -q --hard; git stash clear; git stash list
git reset --soft HEAD~1; git status -s; git reset HEAD~1; git status -s; git checkout n.txt; git restore --source=HEAD~0 n.txt; git reset --hard HEAD; git reflog | head -3 | cut -c9-
git commit --amend -m amended; git commit --allow-empty -m empty; git log --oneline -3; git rev-parse HEAD~1 HEAD^ HEAD~2; git tag v1; git tag -a v2 -m two; git tag -l; git tag -d v1; git show v2 --format=%s -s; git log --format='%h %an <%ae> %ad %d' --date=short
