/** Which packages of Debian each root has. Pure. */

const BASE = [
  ...['bash', 'coreutils', 'findutils', 'grep', 'sed', 'gawk', 'diffutils', 'patch', 'file', 'less', 'procps'],
  ...['tar', 'gzip', 'bzip2', 'xz-utils', 'zip', 'unzip', 'ca-certificates', 'curl', 'git', 'jq', 'make'],
  ...['python3', 'python3-pip', 'python3-venv', 'python3-pytest', 'nodejs', 'npm', 'ripgrep', 'sqlite3'],
];

/** By the name of the root, in the order in which they are shown. */
export const ROOT_RECIPES: Readonly<Record<string, readonly string[]>> = {
  base: BASE,
  dev: [...BASE, 'build-essential'],
};
