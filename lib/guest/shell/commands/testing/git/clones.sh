export GIT_AUTHOR_DATE='1700000000 +0000' GIT_COMMITTER_DATE='1700000000 +0000'
git config --global user.name 'A B'; git config --global user.email a@b.c
mkdir r; cd r; git init -q -b main; echo a > a; git add a; git commit -qm one; git branch dev; git tag v1; cd ..
git clone r c; cd c; git log --oneline; git branch -a; git remote -v; git status; git status -sb; echo b > b; git add b; git commit -qm two; git status; git status -sb; git log origin/main..HEAD --oneline; git checkout -q dev; git branch; git switch main; git switch -; cd ..
git clone -q --bare r bare.git; git -C bare.git log --oneline; git clone -q bare.git again; ls again; git clone nope no; echo $?; git clone r c; echo $?; git -C r status -s
