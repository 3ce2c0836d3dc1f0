sqlite3 :memory: 'select * from nope'; echo $?
sqlite3 :memory: 'create table t(a unique); insert into t values(1); insert into t values(1)'; echo $?
echo 'select 1; selec 2; select 3;' | sqlite3 :memory:; echo $?
printf 'select 1;\nselect nope;\nselect 3;\n' | sqlite3 :memory:; echo $?
printf 'select 1;\nselect nope;\nselect 3;\n' | sqlite3 -bail :memory:; echo $?
sqlite3 :memory: .foo; echo $?; sqlite3 -foo; echo $?; sqlite3 /nope/x.db 'select 1'; echo $?
echo hello there this is no database > nodb; sqlite3 nodb .tables; echo $?; sqlite3 nodb 'select * from t'; echo $?
sqlite3 :memory: 'select 1 as a, 2 as b, 3 as c, 4 as d, 5 as e, 6 as f, nosuchcolumn, 8 as h, 9 as i, 10 as j, 11 as k, 12 as l'; echo $?
sqlite3 :memory: 'create table t(a not null); insert into t values(null)'; sqlite3 :memory: 'create table t(a check(a > 1)); insert into t values(0)'; sqlite3 :memory: 'insert into x values(1)'; sqlite3 :memory: 'select 1 +'; sqlite3 :memory: 'select "quoted"'; sqlite3 :memory: "select 'open"; echo $?
sqlite3 :memory: '.mode nope'; sqlite3 :memory: '.read nofile'; echo $?; sqlite3 :memory: '.import nofile t'; echo $?
printf 'create table t(a);\ninsert into t values(1),(2);\nselect * from u;\n.tables\ninsert into t values(3;\nselect count(*) from t;\n' | sqlite3 :memory:; echo $?
printf 'select 1;\n.read b.sql\nselect 2;\n' > b.sql; sqlite3 :memory: '.read b.sql' | uniq -c; sqlite3 :memory: < b.sql | uniq -c; echo ${PIPESTATUS[0]}
