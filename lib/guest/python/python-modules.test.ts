/** What `import` finds in a sandbox, and with which options Python runs. */
import { expect, test } from 'vitest';
import { stage } from '../../workers/testing/stage.ts';

const at = stage();

const FILES = [
  'mkdir -p app/deep lib /memory/kept /tmp/other',
  'printf "def name():\\n    return __file__\\n" | tee app/helper.py app/deep/__init__.py lib/far.py /memory/kept/far2.py /tmp/other/near.py > /dev/null',
  'printf "import sys, helper, deep\\nprint(helper.name(), deep.name(), sys.argv)\\n" > app/main.py',
].join('\n');

test('a program imports what lies beside it, and what PYTHONPATH names, in every volume', async () => {
  const [, main, named, current, volumes] = await at.runAll(
    'modules',
    FILES,
    'python3 app/main.py -x; ls -A app',
    'PYTHONPATH=/workspace/lib:app python3 -c "import far, helper; print(far.name(), helper.name())"',
    'cd app && python3 -c "import helper; print(helper.name())" && echo "import helper; print(1)" | python3 && python3 -m helper',
    'cd /memory/kept && python3 -c "import far2; print(far2.name())"; cd /tmp/other && python3 -c "import near; print(1)"',
  );
  expect(main).toMatchObject({
    stdout:
      "/workspace/app/helper.py /workspace/app/deep/__init__.py ['app/main.py', '-x']\ndeep\nhelper.py\nmain.py\n",
    stderr: '',
  });
  expect(named?.stdout).toBe('/workspace/lib/far.py /workspace/app/helper.py\n');
  expect(current).toMatchObject({ stdout: '/workspace/app/helper.py\n1\n', exitCode: 0 });
  expect(volumes).toMatchObject({ stdout: '/memory/kept/far2.py\n1\n', stderr: '' });
});

test('functions that name a path by its root reach the sandbox’s files, and a real path is the sandbox’s', async () => {
  const [, moved] = await at.runAll(
    'paths',
    FILES,
    `python3 -c "
import os, pathlib
os.rename('/workspace/lib/far.py', '/workspace/lib/moved.py')
print(os.access('/workspace/lib/moved.py', os.R_OK), os.path.realpath('lib'), pathlib.Path('app/main.py').resolve())"
ls lib`,
  );
  expect(moved).toMatchObject({ stdout: 'True /workspace/lib /workspace/app/main.py\nmoved.py\n', stderr: '' });
});

test('options are CPython’s: warnings, asserts, isolation, and a script that is not there', async () => {
  const [, warned, lax, alone, missing, version] = await at.runAll(
    'options',
    FILES,
    'python3 -Werror -c "import warnings; warnings.warn(\'told\')"',
    'python3 -uOc "assert False; print(__debug__)"',
    'cd app && python3 -I -c "import helper"',
    'python3 nofile.py',
    'python3 -V',
  );
  expect(warned).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('UserWarning: told') });
  expect(lax).toMatchObject({ exitCode: 0, stdout: 'False\n' });
  expect(alone).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("No module named 'helper'") });
  expect(missing).toMatchObject({
    exitCode: 2,
    stderr: "python3: can't open file '/workspace/nofile.py': [Errno 2] No such file or directory\n",
  });
  expect(version?.stdout).toMatch(/^Python 3\.13/);
});

test('the system is Linux for a program, as for uname, and its folders of packages are the user’s', async () => {
  const [named, folders, modules] = await at.runAll(
    'platform',
    `python3 -c "
import os, platform, sys, sysconfig
print(sys.platform, platform.system(), platform.machine(), os.uname().sysname, sysconfig.get_platform())"; uname -s -m`,
    'python3 -m site --user-base; python3 -c "import site; print(site.getusersitepackages())"',
    `python3 -c "
import subprocess, uuid, shutil, sys
print(uuid.uuid1().version, sys.platform)
try: subprocess.run(['echo'])
except OSError: print('no programs')"`,
  );
  expect(named).toMatchObject({ stdout: 'linux Linux x86_64 Linux linux-x86_64\nLinux x86_64\n', stderr: '' });
  expect(folders).toMatchObject({
    stdout: '/workspace/.local\n/workspace/.local/lib/python3.13/site-packages\n',
    stderr: '',
  });
  expect(modules).toMatchObject({ stdout: '1 linux\nno programs\n', stderr: '' });
});
