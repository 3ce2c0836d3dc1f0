/** Where Python in a sandbox looks for modules, and what it is told of its surroundings. */

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

/** Lines, indented by one space, that set `sys.path`. */
export function moduleSearch({ first, ignoresEnvironment, withoutInstalled }: ModuleSearch): string[] {
  const begin = first === null ? '[]' : first === undefined ? '[os.getcwd()]' : `[${JSON.stringify(first)}]`;
  const named = ignoresEnvironment
    ? '[]'
    : '[os.path.join(os.getcwd(), part) for part in os.environ.get("PYTHONPATH", "").split(":") if part]';
  const installed = withoutInstalled ? '[]' : `[${JSON.stringify(SITE_PACKAGES)}]`;
  return [' sys.dont_write_bytecode = True', ` sys.path[:1] = ${begin} + ${named}`, ` sys.path += ${installed}`];
}
