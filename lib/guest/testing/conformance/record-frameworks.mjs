/**
 * Records the commands that three agent frameworks run, while they run against the machine's bash, as table files:
 * `node lib/guest/testing/conformance/record-frameworks.mjs FOLDER`, where FOLDER holds a node_modules with deepagents, bash-tool, ai,
 * @openai/agents and @openai/agents-extensions. They are no dependencies of this project.
 *
 * deepagents: a BaseSandbox whose `execute` is the machine's bash. AI SDK: bash-tool over such a sandbox. OpenAI: the
 * remote sandbox session of its extensions (the Daytona one) over a stand-in of the provider's SDK.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { RealShell } from './real-shell.ts';

const FOLDER = resolve(process.argv[2] ?? '.');
const MOST = 12;
/** The script with which OpenAI's sessions resolve a path before they use it. */
const RESOLVER = /max_symlink_depth=/;
const REMOTE_ROOT = '/home/daytona/workspace';
// A module of that folder resolves names as its packages do.
const LOADER = join(FOLDER, 'load.mjs');
writeFileSync(LOADER, 'export const load = (name) => import(name);\n');
const { load } = await import(pathToFileURL(LOADER).href);

const real = new RealShell();
const seen = new Set();

/** The commands of one framework, by form. */
class Recording {
  forms = new Map();
  form = '';

  run(command) {
    const form = RESOLVER.test(command) ? 'resolve a path' : this.form;
    const commands = this.forms.get(form) ?? [];
    this.forms.set(form, commands);
    if (commands.length < MOST && !seen.has(command)) {
      seen.add(command);
      commands.push(command);
    }
    const { stdout, stderr, exitCode } = real.run(command);
    const text = (bytes) => Buffer.from(bytes, 'latin1').toString();
    return { stdout: text(stdout), stderr: text(stderr), exitCode };
  }

  write(subject, about) {
    const text = [...this.forms]
      .filter(([, commands]) => commands.length > 0)
      .map(([form, commands]) => `## ${form}\n${commands.map(written).join('\n')}\n`)
      .join('');
    writeFileSync(new URL(`./table/${subject}.txt`, import.meta.url), `// ${about}\n${text}`);
    process.stdout.write(`${subject}: ${[...this.forms.values()].flat().length}\n`);
  }
}

const written = (command) => (/\n|^(?:##|\/\/)/.test(command) ? `{{{\n${command}\n}}}` : command);
const inWorkspace = (path) => (path === '' ? '/workspace' : `/workspace/${path}`);
const FOLDERS = [
  '',
  'src',
  'data',
  'docs',
  'odd',
  'links',
  'logs',
  'empty-dir',
  'nowhere',
  'versions',
  '.git',
  'src/lib',
];
const FILES = [
  'README.md',
  'src/index.ts',
  'data/people.csv',
  'data/empty.txt',
  'data/no-newline.txt',
  'data/crlf.txt',
  'docs/my notes.txt',
  'docs/naïve café.md',
  "odd/it's.txt",
  'nowhere.txt',
  'logs/app.log',
  'data/words.txt',
];

async function recordDeepagents() {
  const { BaseSandbox } = await load('deepagents');
  const recording = new Recording();
  class Sandbox extends BaseSandbox {
    id = 'recorded';
    async execute(command) {
      const { stdout, stderr, exitCode } = recording.run(command);
      return { output: stdout + stderr, exitCode, truncated: false };
    }
    async uploadFiles(files) {
      return files.map(([path]) => ({ path, error: null }));
    }
    async downloadFiles(paths) {
      return paths.map((path) => ({ path, content: null, error: 'file_not_found' }));
    }
  }
  const sandbox = new Sandbox();
  recording.form = 'ls';
  for (const folder of FOLDERS) await sandbox.ls(inWorkspace(folder));
  recording.form = 'read';
  for (const file of FILES) await sandbox.read(inWorkspace(file));
  recording.form = 'read a part';
  for (const [at, file] of FILES.entries()) await sandbox.read(inWorkspace(file), at % 4, 1 + (at % 5));
  recording.form = 'glob';
  for (const folder of FOLDERS) await sandbox.glob('**/*.ts', inWorkspace(folder));
  recording.form = 'grep';
  const literals = [
    'TODO',
    "it's",
    '$port',
    'export function',
    '(',
    '*',
    'naïve',
    '"server"',
    'a.b',
    'in a name',
    '日本',
    '-dash',
  ];
  for (const [at, text] of literals.entries()) await sandbox.grep(text, inWorkspace(FOLDERS[at % 3] ?? ''));
  recording.form = 'grep with a glob';
  const globs = ['*.ts', '*.md', '*.txt', '*', 'nothing.*', 'it*'];
  for (const [at, text] of literals.entries()) await sandbox.grep(text, '/workspace', globs[at % globs.length]);
  recording.form = 'delete';
  for (const path of ['README.md', 'src', 'links/broken', 'nowhere', "odd/it's.txt", 'docs/naïve café.md', 'empty-dir'])
    await sandbox.delete(inWorkspace(path));
  recording.write('deepagents', 'Recorded from BaseSandbox of deepagents 1.14.1 by record-frameworks.mjs.');
}

const TYPED = {
  explore: [
    'ls -la',
    'find . -type f | head -50 | sort',
    'pwd && ls',
    "find . -name '*.ts' -not -path '*/node_modules/*' | sort",
    'cat package.json | head -20',
    'ls -R src',
    'du -a src | cut -f2 | sort',
    'wc -l src/*.ts src/lib/*.ts',
    'head -n 5 README.md docs/guide.md',
    "ls -1 data | grep -v '\\.bin$'",
    "find . -maxdepth 1 -type d | sort | sed 's|^\\./||'",
    'file --version >/dev/null 2>&1; echo "Files: $(find . -type f | wc -l)"',
  ],
  search: [
    'grep -rn "TODO" --include="*.ts" .',
    "grep -rIl 'export' src | sort",
    'grep -n "function" src/index.ts src/util.ts',
    "grep -c '' logs/app.log",
    "grep -rn 'import' src --include='*.ts' | awk -F: '{print $1}' | sort | uniq -c",
    'grep -E "ERROR|WARN" logs/app.log | tail -5',
    "grep -A3 'export function' src/lib/math.ts",
    'grep -i "error" logs/error.log | sort -u',
    "grep -o 'id=[0-9]*' logs/app.log | head -3",
    'grep -L TODO src/*.ts',
    "grep -rw 'add' src | wc -l",
    'grep -q "zod" package.json && echo "uses zod" || echo "no zod"',
  ],
  read: [
    'cat src/index.ts',
    "sed -n '1,5p' src/lib/math.ts",
    'head -c 100 README.md',
    'tail -n 3 logs/app.log',
    'cat -n src/util.ts',
    "nl -ba src/index.ts | sed -n '3,6p'",
    "awk 'NR>=2 && NR<=4' data/people.csv",
    'cat "docs/my notes.txt"',
    'cat data/config.json | jq .',
    "jq -r '.server.host' data/config.json",
    'od -c data/crlf.txt | head -2',
    'cat nope.txt',
  ],
  edit: [
    "sed -i 's/8080/3000/' src/index.ts && grep 3000 src/index.ts",
    'echo "new line" >> README.md && tail -1 README.md',
    "cat > /tmp/new.ts << 'EOF'\nexport const x = 1;\nEOF\ncat /tmp/new.ts",
    'mkdir -p src/new && touch src/new/a.ts && ls src/new',
    'mv data/teams.txt data/groups.txt && ls data/groups.txt',
    'cp src/util.ts src/util.bak && diff src/util.ts src/util.bak && echo identical',
    "printf 'a\\nb\\n' | tee out.txt | wc -l",
    'rm -f data/words.txt; ls data/words.txt',
    "awk -F, -v OFS=, '{$2 = $2 + 1; print}' data/people.csv > /tmp/p.csv && head -2 /tmp/p.csv",
    "sed -i.bak '/^$/d' README.md && wc -l README.md",
    'ln -s ../README.md src/readme && cat src/readme | head -1',
    'chmod +x scripts/lib.sh && test -x scripts/lib.sh && echo executable',
  ],
  data: [
    'cut -d, -f3 data/people.csv | tail -n +2 | sort | uniq -c | sort -rn',
    'awk -F, \'NR > 1 {sum += $2} END {printf "%.2f\\n", sum / (NR - 1)}\' data/people.csv',
    'sort -t, -k2 -n data/people.csv | head -3',
    'jq -r \'.users[] | "\\(.id) \\(.name)"\' data/config.json',
    "awk '{print $9}' data/access.log | sort | uniq -c",
    'paste -sd+ data/numbers.txt',
    "tr -s ' ' '\\n' < docs/guide.md | sort | uniq -c | sort -rn | head -3",
    "awk '{c[$3]++} END {for (l in c) print l, c[l]}' logs/app.log | sort",
    'join <(sort data/teams.txt) <(sort data/scores.tsv)',
    'column -t data/teams.txt',
    'sort -u data/words.txt | comm -12 - <(sort -u data/teams.txt) | wc -l',
    'xargs -n1 < data/numbers.txt | sort -n | tail -1',
  ],
  scripts: [
    'for f in src/*.ts; do echo "$f: $(wc -l < "$f")"; done',
    'set -e; cd src && ls *.ts | wc -l',
    'if [ -f package.json ]; then echo yes; fi',
    'x=$(ls data | wc -l); echo "data has $x files"',
    'while IFS=, read -r n a c d; do echo "$n lives in $c"; done < data/people.csv | head -3',
    'export FOO=bar; bash -c \'echo "$FOO"\'',
    'python3 -c "print(sum(range(10)))"',
    'bash scripts/run.sh test && echo done',
    'seq 1 5 | while read i; do echo $((i * i)); done',
    'trap "echo cleanup" EXIT; echo working',
    '[[ "$(uname -s)" == Linux ]] && echo linux',
    'date -u -d @0 +%F; sleep 0',
  ],
};

async function recordAiSdk() {
  const { createBashTool } = await load('bash-tool');
  const recording = new Recording();
  const sandbox = {
    executeCommand: async (command) => recording.run(command),
    readFile: async () => '',
    writeFiles: async () => {},
  };
  recording.form = 'discovery';
  const { bash } = await createBashTool({ sandbox, destination: '/workspace' });
  for (const [form, commands] of Object.entries(TYPED)) {
    recording.form = form;
    for (const command of commands) await bash.execute({ command }, { toolCallId: 'recorded', messages: [] });
  }
  recording.write('ai-sdk', 'Recorded from bash-tool 1.3.19 for the AI SDK 6 by record-frameworks.mjs.');
}

const STAND_IN = `
const sandbox = {
  id: 'recorded', start: async () => {}, stop: async () => {}, delete: async () => {},
  getWorkDir: async () => '${REMOTE_ROOT}', getUserHomeDir: async () => '/home/daytona',
  fs: {
    createFolder: async () => {}, uploadFile: async () => {}, deleteFile: async () => {},
    downloadFile: async () => Buffer.from('content\\n'),
  },
  process: { executeCommand: async (command) => globalThis.runRecorded(command) },
};
export class Daytona {
  async create() { return sandbox; }
  async get() { return sandbox; }
}
`;

async function recordOpenAi() {
  const standIn = join(FOLDER, 'node_modules/@daytonaio/sdk');
  mkdirSync(standIn, { recursive: true });
  writeFileSync(
    join(standIn, 'package.json'),
    '{"name":"@daytonaio/sdk","version":"0.0.0","type":"module","exports":"./index.js"}',
  );
  writeFileSync(join(standIn, 'index.js'), STAND_IN);
  const { DaytonaSandboxClient } = await load('@openai/agents-extensions/sandbox/daytona');
  const recording = new Recording();
  globalThis.runRecorded = (command) => {
    const { stdout, exitCode } = recording.run(command.replaceAll(REMOTE_ROOT, '/workspace'));
    const result = stdout.replaceAll('/workspace', REMOTE_ROOT);
    return { exitCode, result, artifacts: { stdout: result } };
  };
  recording.form = 'begin';
  const client = new DaytonaSandboxClient();
  const session = await client.create({});
  const attempt = async (form, run) => {
    recording.form = form;
    // What the framework makes of an answer is not what is recorded.
    await run().catch((error) => process.env.WB_VERBOSE && process.stderr.write(`${form}: ${error}\n`));
  };
  for (const file of FILES) await attempt('read a file', () => session.readFile({ path: file }));
  for (const file of FILES) await attempt('whether a path exists', () => session.pathExists(file));
  for (const folder of FOLDERS)
    await attempt('whether a folder exists', () => session.directoryExists(folder === '' ? '.' : folder));
  const editor = session.createEditor();
  for (const file of FILES)
    await attempt('create a file', () =>
      editor.createFile({ type: 'create_file', path: `new/${file}`, diff: '+one\n+two\n' }),
    );
  for (const file of FILES)
    await attempt('update a file', () =>
      editor.updateFile({ type: 'update_file', path: file, diff: '@@\n-nothing\n+something\n' }),
    );
  for (const file of FILES)
    await attempt('delete a file', () => editor.deleteFile({ type: 'delete_file', path: file }));
  const shell = [
    'ls -la src',
    "sed -n '1,200p' src/index.ts",
    'rg --files 2>/dev/null || find . -type f | sort | head -20',
    "nl -ba src/lib/math.ts | sed -n '1,4p'",
    'git status --short 2>/dev/null; echo $?',
    'cat README.md',
    "find . -maxdepth 2 -name '*.md' | sort",
    "python3 - <<'PY'\nprint('hello')\nPY",
    'wc -c data/*.txt',
    'test -f package.json && cat package.json | head -3',
    "grep -n 'port' -r src | head",
    'mkdir -p out && echo ok > out/result.txt && cat out/result.txt',
  ];
  for (const cmd of shell) await attempt('exec_command', () => session.execCommand({ cmd }));
  for (const cmd of [
    'pwd',
    'ls',
    'cat math.ts | head -3',
    'grep -c export math.ts',
    "awk '/return/' math.ts",
    'echo "$PWD"',
  ])
    await attempt('exec_command in a folder', () =>
      session.execCommand({ cmd: `cd src/lib && ${cmd}`, workdir: 'src/lib' }),
    );
  await attempt('archive', () => session.persistWorkspace());
  recording.write(
    'openai-agents',
    'Recorded from the sandbox sessions of @openai/agents-extensions 0.18.0 by record-frameworks.mjs.',
  );
}

try {
  for (const record of [recordDeepagents, recordAiSdk, recordOpenAi]) {
    try {
      await record();
    } catch (error) {
      process.exitCode = 1;
      process.stderr.write(`${record.name}: ${error instanceof Error ? error.stack : error}\n`);
    }
  }
} finally {
  real.close();
}
