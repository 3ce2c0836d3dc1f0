/** Where Python in a sandbox looks for modules. */

/** The version of CPython that just-bash brings, as folders and wheels have it. */
export const PYTHON_VERSION = '3.13';

/** Where `pip install` puts packages: in the workspace, with which they travel. */
export const SITE_PACKAGES = `/workspace/.local/lib/python${PYTHON_VERSION}/site-packages`;

export interface ModuleSearch {
  /** The first folder; null: none. Default: the current one. */
  first?: string | null;
  /** PYTHONPATH is not read. */
  ignoresEnvironment?: boolean;
  withoutInstalled?: boolean;
}

/**
 * Lines, indented by one space, that give Python the names of the shell. It has the sandbox's files in a folder of its
 * own, `/host`, and just-bash redirects one function after the other there. Those that it leaves out, as `os.rename`
 * or `Path.touch`, would work on a disk that nobody sees, and what it redirects gives names of `/host`. So the folders
 * of the root are links, and the library's own functions come back. The root alone is listed as the shell has it, and
 * takes no file.
 */
export const FILE_SETUP: readonly string[] = [
  ' shell = sys.modules["__main__"].__dict__',
  ' if "_should_redirect" in shell:',
  '  import builtins, glob, pathlib, shutil',
  '  shell["_should_redirect"] = lambda path: path == "/"',
  '  for key, plain in list(shell.items()):',
  '   name = key.removeprefix("_orig_")',
  '   if name == key or name in ("getcwd", "listdir", "scandir"): continue',
  '   owner = next(one for one in (builtins, io) if hasattr(one, name)) if name.startswith("open") else glob if "glob" in name else os.path if name in ("exists", "isfile", "isdir") else shutil if name.startswith("shutil_") else os',
  '   setattr(owner, name.removeprefix("shutil_"), plain)',
  '  io.open = builtins.open',
  '  for key, plain in list(vars(pathlib.Path).items()):',
  '   if key.startswith("_orig_"):',
  '    setattr(pathlib.Path, key.removeprefix("_orig_"), plain)',
  '    delattr(pathlib.Path, key)',
  '  os.remove("/tmp/_jb_script.py")',
  '  os.rmdir("/tmp")',
  '  for folder in ("workspace", "memory", "tmp", "usr", "bin", "dev/fd", "dev/zero", "dev/full"):',
  '   if not os.path.lexists("/" + folder): os.symlink("/host/" + folder, "/" + folder)',
  '  real = os.path.realpath',
  '  def realpath(path, *args, **options):',
  '   found = real(path, *args, **options)',
  '   return found[5:] if isinstance(found, str) and found.startswith("/host/") else found',
  '  os.path.realpath = realpath',
  '  move = os.rename',
  // A file moves as its content alone, a folder and a link not at all.
  '  def rename(src, dst, **options):',
  '   if options: return move(src, dst, **options)',
  '   before = os.lstat(src).st_mode',
  '   if before & 0o170000 == 0o100000:',
  '    move(src, dst)',
  '    return os.chmod(dst, before & 0o7777)',
  '   if os.path.realpath(os.path.dirname(os.path.abspath(dst)) + "/").startswith(os.path.abspath(src) + "/"):',
  '    raise OSError(28, "Invalid argument", os.fspath(src), None, os.fspath(dst))',
  '   if before & 0o170000 == 0o120000:',
  '    if os.path.lexists(dst): os.unlink(dst)',
  '    os.symlink(os.readlink(src), dst)',
  '    return os.unlink(src)',
  '   if os.path.lexists(dst): os.rmdir(dst)',
  '   os.mkdir(dst, before & 0o7777)',
  '   for name in os.listdir(src): rename(os.path.join(src, name), os.path.join(dst, name))',
  '   os.rmdir(src)',
  '  os.rename = os.replace = rename',
  '  os.chmod("/", 0o555)',
  // They name files of the machine.
  '  sys.executable = sys._base_executable = "/usr/bin/python3"',
  '  sys.orig_argv = ["python3"]',
  '  os.environ.pop("_", None)',
];

/** Lines, indented by one space, that set `sys.path`. */
export function moduleSearch({ first, ignoresEnvironment, withoutInstalled }: ModuleSearch): string[] {
  const begin = first === null ? '[]' : first === undefined ? '[os.getcwd()]' : `[${JSON.stringify(first)}]`;
  const named = ignoresEnvironment
    ? '[]'
    : '[os.path.join(os.getcwd(), part) for part in os.environ.get("PYTHONPATH", "").split(":") if part]';
  const installed = withoutInstalled ? '[]' : `[${JSON.stringify(SITE_PACKAGES)}]`;
  return [' sys.dont_write_bytecode = True', ` sys.path[:1] = ${begin} + ${named}`, ` sys.path += ${installed}`];
}
