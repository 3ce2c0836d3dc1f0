cat > one.py <<'P'
import sqlite3, os
con = sqlite3.connect('a.db')
cur = con.cursor()
print(cur.execute('create table t(id integer primary key, name text, price real, data blob)') is cur, cur.description, cur.rowcount, con.in_transaction)
cur.execute('insert into t(name, price, data) values(?, ?, ?)', ('one', 1.5, b'\x00\xff'))
print(cur.lastrowid, cur.rowcount, con.in_transaction, con.total_changes)
cur.executemany('insert into t(name, price) values(:n, :p)', [{'n': 'two', 'p': 2}, {'n': "thr'ee", 'p': None}])
print(cur.rowcount, cur.lastrowid)
con.commit()
print(con.in_transaction, os.path.getsize('a.db') > 0)
print(cur.execute('select * from t').fetchall(), cur.description)
print(cur.execute('select name from t order by id').fetchone(), cur.fetchmany(5), cur.fetchone(), cur.rowcount)
print([row for row in con.execute('select id, typeof(price) from t')])
print(con.execute('update t set price = 9 where id > ?', [1]).rowcount, con.execute('delete from t where id = 99').rowcount)
con.rollback()
print(con.execute('select sum(price) from t').fetchone())
con.row_factory = sqlite3.Row
row = con.execute('select id, name as Name from t where id = 2').fetchone()
print(row['name'], row['NAME'], row[0], row[-1], row[0:2], row.keys(), len(row), tuple(row), dict(row), list(row), isinstance(row, sqlite3.Row))
try:
    row['nope']
except IndexError as error:
    print('IndexError', error)
con.row_factory = lambda cursor, row: {column[0]: value for column, value in zip(cursor.description, row)}
print(con.execute('select id, name from t where id = 1').fetchone())
con.row_factory = None
with con:
    con.execute("insert into t(name) values('in with')")
try:
    with con:
        con.execute("insert into t(name) values('rolled back')")
        raise ValueError('x')
except ValueError:
    pass
print(con.execute('select count(*), max(name) from t').fetchone())
con.close()
try:
    con.execute('select 1')
except sqlite3.ProgrammingError as error:
    print('closed:', error)
con = sqlite3.connect('a.db')
print(con.execute('select name from t where id = 4').fetchall())
P
python3 one.py; sqlite3 a.db 'select count(*) from t; pragma integrity_check'
python3 - <<'P'
import sqlite3
con = sqlite3.connect(':memory:')
values = [None, 0, -1, 2**53 + 1, 2**63 - 1, -2**63, 1.5, 1e300, float('inf'), '', 'text', 'é\U0001f600', 'a\x00b'[:1], b'', b'\x00\x01', bytearray(b'xy'), memoryview(b'mv'), True]
for value in values:
    got, kind = con.execute('select ?, typeof(?1)', (value,)).fetchone()
    print(repr(got), kind)
print(con.execute('select ?', (float('nan'),)).fetchone())
def attempt(work):
    try:
        print('ok', work())
    except Exception as error:
        print(type(error).__module__, type(error).__name__, error, getattr(error, 'sqlite_errorname', None), getattr(error, 'sqlite_errorcode', None))
con.executescript('create table t(a unique not null, b check(b > 0)); insert into t values(1, 1); create table u(x);')
attempt(lambda: con.execute('select * from nope'))
attempt(lambda: con.execute('selec 1'))
attempt(lambda: con.execute('insert into t values(1, 1)'))
attempt(lambda: con.execute('insert into t values(null, 1)'))
attempt(lambda: con.execute('insert into t values(2, 0)'))
attempt(lambda: con.execute('select ?'))
attempt(lambda: con.execute('select ?', (1, 2)))
attempt(lambda: con.execute('select :a', {'b': 1}))
attempt(lambda: con.execute('select ?', (2**63,)))
attempt(lambda: con.execute('select ?', 'ab'))
attempt(lambda: con.execute('select ?', ('\ud800',)))
attempt(lambda: con.cursor().executemany('select 1', [()]))
attempt(lambda: sqlite3.connect('/no/such/folder/x.db'))
attempt(lambda: con.execute('select 1').fetchone())
attempt(lambda: con.execute(5))
attempt(lambda: con.execute('insert into u values(1) returning x').fetchall())
attempt(lambda: con.execute('-- nothing').fetchall())
open('nodb', 'w').write('this is no database at all, but a text of some length')
attempt(lambda: sqlite3.connect('nodb').execute('select * from t'))
print(issubclass(sqlite3.IntegrityError, sqlite3.DatabaseError), issubclass(sqlite3.DatabaseError, sqlite3.Error), issubclass(sqlite3.Warning, Exception), sqlite3.apilevel, sqlite3.paramstyle)
P
python3 - <<'P'
import sqlite3, datetime, time
con = sqlite3.connect('big.db', isolation_level=None)
con.execute('create table n(i integer, s text)')
con.execute('begin')
con.executemany('insert into n values(?, ?)', ((i, 'row %d' % i) for i in range(20000)))
con.execute('commit')
print(con.execute('select count(*), sum(i), max(s) from n').fetchone())
print(sum(i for (i,) in con.execute('select i from n')), sum(1 for _ in con.execute('select * from n where i % 2')))
cursor = con.execute('select i from n order by i')
print(cursor.fetchone(), len(cursor.fetchmany(1500)), len(cursor.fetchall()))
con.execute('insert into n values(1, 2)')
print(con.in_transaction, con.isolation_level)
con.close()
con = sqlite3.connect(':memory:', detect_types=sqlite3.PARSE_DECLTYPES | sqlite3.PARSE_COLNAMES)
con.execute('create table d(a date, b timestamp, c point)')
class Point:
    def __init__(self, x, y):
        self.x, self.y = x, y
    def __repr__(self):
        return 'Point(%s, %s)' % (self.x, self.y)
sqlite3.register_adapter(Point, lambda p: '%s;%s' % (p.x, p.y))
sqlite3.register_converter('point', lambda b: Point(*b.decode().split(';')))
con.execute('insert into d values(?, ?, ?)', (datetime.date(2024, 1, 2), datetime.datetime(2024, 1, 2, 3, 4, 5), Point(1, 2)))
print(con.execute('select * from d').fetchone())
print(con.execute('select "1;2" as "p [point]", b as "x [timestamp]" from d').fetchone()[0])
con.text_factory = bytes
print(con.execute("select 'é'").fetchone())
con.text_factory = str
print(list(con.iterdump()))
one, two = sqlite3.connect('shared.db', timeout=0), sqlite3.connect('shared.db', timeout=0)
one.execute('create table s(a)'); one.execute('insert into s values(1)')
try:
    two.execute('insert into s values(2)')
except sqlite3.OperationalError as error:
    print(error)
    two.rollback()
print(two.execute('select count(*) from s').fetchall())
one.commit()
print(two.execute('select count(*) from s').fetchall())
uri = sqlite3.connect('file:shared.db?mode=ro', uri=True)
try:
    uri.execute('insert into s values(3)')
except sqlite3.OperationalError as error:
    print(error)
from sqlite3 import dbapi2
print(dbapi2.connect is sqlite3.connect, sqlite3.complete_statement('select 1;'), sqlite3.complete_statement('select'))
uncommitted = sqlite3.connect('shared.db'); uncommitted.execute('insert into s values(9)')
P
sqlite3 shared.db 'select * from s'; sqlite3 big.db 'select count(*) from n'; ls *.db*
