sqlite3 a.db "create table t(a integer primary key, b text, c real); insert into t(b, c) values('one', 1.5), ('two', null), ('thr''ee', 0.5); select * from t"
sqlite3 a.db 'select count(*), sum(c), max(b) from t'; ls a.db; head -c 15 a.db; echo
sqlite3 -header a.db 'select * from t'; sqlite3 -csv a.db 'select * from t'; sqlite3 -header -csv a.db 'select * from t'; sqlite3 -json a.db 'select * from t'; sqlite3 -line a.db 'select * from t'
sqlite3 -column a.db 'select * from t'; sqlite3 -header -column a.db 'select * from t'; sqlite3 -box a.db 'select * from t'; sqlite3 -table a.db 'select * from t'; sqlite3 -markdown a.db 'select * from t'
sqlite3 -tabs a.db 'select * from t'; sqlite3 -quote a.db 'select * from t'; sqlite3 -html -header a.db 'select * from t'; sqlite3 -separator ';' a.db 'select * from t'; sqlite3 -nullvalue NULL a.db 'select * from t'; sqlite3 -list -newline '!' a.db 'select a from t'; echo
sqlite3 a.db .tables; sqlite3 a.db .schema; sqlite3 a.db .dump; sqlite3 a.db '.schema t'; sqlite3 a.db .indexes; sqlite3 a.db 'create index i on t(b); create view v as select a, b from t; create table "or der"(x)'; sqlite3 a.db .tables .indexes .schema; sqlite3 a.db '.dump t'
sqlite3 a.db <<'S'
.headers on
.mode column
select * from t;
.mode csv
select b,
  c from t
  where a = 1;
.mode list
.separator ,
select 1, 2;
.nullvalue -
select null;
.print hello world
.mode json
select * from t where a < 3;
.mode line
select 1 as x, 'y' as yy;
.mode insert u
select * from t;
.quit
select 'never';
S
echo "select 'from stdin';" | sqlite3 a.db; printf 'select 1;\n-- comment\nselect 2\n' | sqlite3; sqlite3 :memory: 'select 1; select 2;' 'select 3'
sqlite3 -cmd '.mode json' :memory: 'select 1 as a'; sqlite3 -readonly a.db 'insert into t(b) values(1)'; echo $?
sqlite3 :memory: 'select 1.0, 1e100, 0.1, 1e15, 123456789012345678, -0.0, 1/3.0, 9007199254740993, 1e-5, 12345.678, 100000000000000000000.0, 2.5e-10'
sqlite3 -json :memory: "select 1e100 as f, 'a\"b' as e, null as n, 'é' as u"; sqlite3 -csv :memory: "select 'x,y', 'q\"q', '', null, 'a b', 'plain'"
sqlite3 b.db "create table x(id integer primary key autoincrement, n int); insert into x(n) values(1),(2)"; sqlite3 b.db .dump; sqlite3 b.db "begin; insert into x(n) values(3); rollback; select count(*) from x; begin; insert into x(n) values(9)"; sqlite3 b.db 'select count(*) from x'
sqlite3 b.db "attach 'a.db' as o; select count(*) from o.t; insert into o.t(b) select 'from b'; "; sqlite3 a.db 'select b from t where a = 4'
printf 'id,name\n1,"An, n"\n2,Bob\n' > in.csv; sqlite3 b.db '.mode csv' '.import in.csv people' 'select * from people'; sqlite3 b.db '.import --csv --skip 1 in.csv people' 'select count(*) from people'; sqlite3 b.db .schema
sqlite3 a.db .dump > dump.sql; sqlite3 c.db < dump.sql; sqlite3 c.db 'select count(*) from t'; sqlite3 c.db '.output out.txt' 'select 7' '.output' 'select 8'; cat out.txt; sqlite3 c.db '.read dump.sql' 2>&1 | head -2; sqlite3 c.db "select name, type from sqlite_schema order by 1"
sqlite3 a.db "select json_extract('{\"a\":[1,2]}', '$.a[1]'), upper('x'), printf('%05.1f', 2.25), strftime('%Y', 0, 'unixepoch'), sin(0), group_concat(b, '-') from t"
sqlite3 f.db "create virtual table d using fts5(body); insert into d values('hello world'), ('other thing'); select rowid, body from d where d match 'hello'; select highlight(d, 0, '<', '>') from d where d match 'world'"; sqlite3 f.db "select count(*) from d"
sqlite3 w.db 'pragma journal_mode=wal; create table t(a); insert into t values(1)'; sqlite3 w.db 'pragma journal_mode; select * from t'; ls w.db*; sqlite3 w.db 'vacuum; pragma integrity_check'
sqlite3 empty.db .tables; ls -l empty.db | cut -c1-10; sqlite3 a.db '.backup copy.db'; sqlite3 copy.db 'select count(*) from t'; mkdir -p sub; cd sub; sqlite3 ../a.db 'select a from t limit 1'
