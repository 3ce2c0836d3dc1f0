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
 * Lines, indented by one space, that set `sys.path`. Python has the sandbox's files in a folder of its own, `/host`.
 * Its functions are redirected there one by one, the import system not: so volumes are links to it. There is a `/tmp`
 * already, which stays.
 */
export function moduleSearch({ first, ignoresEnvironment, withoutInstalled }: ModuleSearch): string[] {
  const begin = first === null ? '[]' : first === undefined ? '[os.getcwd()]' : `[${JSON.stringify(first)}]`;
  const named = ignoresEnvironment
    ? '[]'
    : '[os.path.join(os.getcwd(), part) for part in os.environ.get("PYTHONPATH", "").split(":") if part]';
  const installed = withoutInstalled ? '[]' : `[${JSON.stringify(SITE_PACKAGES)}]`;
  return [
    ' sys.dont_write_bytecode = True',
    ' for volume in ("workspace", "memory"):',
    '  if not os.path.lexists("/" + volume): os.symlink("/host/" + volume, "/" + volume)',
    ' real = getattr(os.path.realpath, "plain", os.path.realpath)',
    ' def realpath(path, *args, **options):',
    '  found = real(path, *args, **options)',
    '  return found[5:] if isinstance(found, str) and found.startswith("/host/") else found',
    ' realpath.plain = real',
    ' os.path.realpath = realpath',
    ' hosted = lambda path: "/host" + path if path == "/tmp" or path.startswith("/tmp/") else path',
    ` sys.path[:1] = [hosted(path) for path in ${begin} + ${named}]`,
    ` sys.path += ${installed}`,
  ];
}
