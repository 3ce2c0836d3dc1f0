/** What makes `import sqlite3` work in Python: the finder of the module, which comes through a file of its own. */

/** The file, as the shell names it and as Python opens it. */
export const SQLITE_PORT = '/dev/.sqlite';

/** Lines, indented by one space, that make `import sqlite3` find the module. */
export const DATABASE_SETUP = [
  ' class Databases:',
  '  @staticmethod',
  '  def find_spec(name, path=None, target=None):',
  '   if name in ("sqlite3", "sqlite3.dbapi2"):',
  '    import _frozen_importlib',
  '    return _frozen_importlib.ModuleSpec(name, Databases, is_package=name == "sqlite3")',
  '  @staticmethod',
  '  def create_module(spec):',
  '   return None',
  '  @staticmethod',
  '  def exec_module(module):',
  '   if module.__name__ == "sqlite3.dbapi2":',
  '    module.__dict__.update((name, value) for name, value in sys.modules["sqlite3"].__dict__.items() if not name.startswith("__"))',
  '    return',
  '   import os',
  `   fd = os.open("${SQLITE_PORT}", os.O_RDONLY)`,
  '   parts = iter(lambda: os.read(fd, 65536), b"")',
  '   source = b"".join(parts).decode()',
  '   os.close(fd)',
  '   exec(compile(source, "<sqlite3>", "exec"), module.__dict__)',
  ' sys.meta_path.insert(0, Databases)',
];
