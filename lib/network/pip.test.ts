/** `pip` in a sandbox, against a real index on this machine. */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { ZipFile } from 'yazl';
import { type NetworkServer, startNetworkServer, TENANT } from './testing/network-server.ts';

let net: NetworkServer;
/** Bytes by the name of a file, and the files of each package. */
let files: Map<string, Buffer>;
let packages: Map<string, { filename: string; [field: string]: unknown }[]>;
let isHtml = false;

beforeAll(async () => {
  net = await startNetworkServer();
});
afterAll(() => net.stop());
beforeEach(async () => {
  [files, packages, isHtml] = [new Map(), new Map(), false];
  await net.allow([{ url: `${net.plain}/` }]);
  net.answer = (request, response) => {
    const [, kind, name = ''] = (request.url ?? '').split('/');
    const listed = packages.get(name);
    const content = files.get(name);
    if (kind === 'files' && content !== undefined) response.end(content);
    else if (kind !== 'simple' || listed === undefined) response.writeHead(404).end('none');
    else if (isHtml) response.setHeader('content-type', 'text/html').end(page(listed));
    else
      response.setHeader('content-type', 'application/vnd.pypi.simple.v1+json').end(JSON.stringify({ files: listed }));
  };
});

function page(listed: { filename: string; [field: string]: unknown }[]): string {
  const anchors = listed.map(({ filename, hashes, 'requires-python': requires, yanked }) => {
    const hash = (hashes as { sha256?: string }).sha256;
    const attributes = `${requires === undefined ? '' : ` data-requires-python="${String(requires).replace('>', '&gt;')}"`}${yanked ? ' data-yanked=""' : ''}`;
    return `<a href="../../files/${filename}#sha256=${hash}"${attributes}>${filename}</a><br/>`;
  });
  return `<!DOCTYPE html><html><body>${anchors.join('\n')}</body></html>`;
}

async function zip(entries: Record<string, string | Buffer>, mode = 0o100644): Promise<Buffer> {
  const file = new ZipFile();
  for (const [path, content] of Object.entries(entries)) file.addBuffer(Buffer.from(content), path, { mode });
  file.end();
  const parts: Buffer[] = [];
  for await (const part of file.outputStream) parts.push(part as Buffer);
  return Buffer.concat(parts);
}

interface Made {
  requires?: string[];
  code?: string;
  more?: Record<string, string | Buffer>;
  tags?: string;
  listed?: Record<string, unknown>;
  bytes?: Buffer;
}

/** Puts a wheel on the index; its module prints its version. */
async function put(
  name: string,
  version: string,
  { requires = [], code, more = {}, tags, listed = {}, bytes }: Made = {},
) {
  const module = name.toLowerCase().replace(/[-.]/g, '_');
  const info = `${module}-${version}.dist-info`;
  const metadata = ['Metadata-Version: 2.1', `Name: ${name}`, `Version: ${version}`, 'Summary: For a test'];
  const inside: Record<string, string | Buffer> = {
    [`${module}/__init__.py`]: code ?? `version = "${version}"\n`,
    [`${info}/METADATA`]: `${[...metadata, ...requires.map((one) => `Requires-Dist: ${one}`)].join('\n')}\n\nName: not this one\n`,
    ...more,
  };
  inside[`${info}/RECORD`] = `${[...Object.keys(inside), `${info}/RECORD`].map((path) => `${path},,`).join('\n')}\n`;
  const wheel = bytes ?? (await zip(inside));
  const filename = `${module}-${version}-${tags ?? 'py3-none-any'}.whl`;
  files.set(filename, wheel);
  const key = name.toLowerCase().replace(/[-_.]+/g, '-');
  const sha256 = createHash('sha256').update(wheel).digest('hex');
  const url = `${net.plain}/files/${filename}`;
  packages.set(key, [...(packages.get(key) ?? []), { filename, url, hashes: { sha256 }, ...listed }]);
}

let boxes = 0;
/** A new sandbox. Returns what runs a line in it. */
async function box(): Promise<(command: string) => ReturnType<NetworkServer['sh']>> {
  boxes += 1;
  const id = `pip-${boxes}`;
  await net.server.call('POST', '/api/instances', { id, tenant: TENANT, policy: 'network' });
  await net.server.call('PUT', `/api/instances/${id}/network`, { rules: null, requests_per_minute: 10_000 });
  return (command) => net.sh(`export PIP_INDEX_URL=${net.plain}/simple\n${command}`, id);
}

test('a package and what it needs are installed, imported, listed, upgraded and removed', async () => {
  await put('Over.Lay', '1.0', {
    requires: ['deep_er>=1,<2', 'never; sys_platform == "win32"', 'extra-one; extra == "full"'],
  });
  await put('Over.Lay', '1.5', { requires: ['deep_er>=1,<2', 'extra-one; extra == "full"'] });
  await put('Over.Lay', '2.0rc1');
  await put('deep_er', '1.4');
  await put('deep_er', '2.0');
  await put('extra-one', '0.1');
  const sh = await box();
  const first = await sh(
    'python3 -m pip install "over.lay==1.0"; python3 -c "import over_lay, deep_er; print(over_lay.version, deep_er.version)"',
  );
  expect(first.stderr).toBe('');
  expect(first.stdout).toContain('Successfully installed Over.Lay-1.0 deep_er-1.4\n1.0 1.4\n');
  expect((await sh('pip install over-lay')).stdout).toMatch(
    /^Requirement already satisfied: over-lay in \/workspace.* \(1\.0\)\n$/,
  );
  const upgraded = await sh('pip install -qU "over-lay[full]"; pip freeze; pip show over-lay');
  expect(upgraded).toMatchObject({ stderr: '', exit_code: 0 });
  expect(upgraded.stdout).toBe(
    'deep_er==1.4\nextra-one==0.1\nOver.Lay==1.5\nName: Over.Lay\nVersion: 1.5\nSummary: For a test\nLocation: /workspace/.local/lib/python3.13/site-packages\nRequires: deep-er\n',
  );
  expect((await sh('ls .local/lib/python3.13/site-packages')).stdout).not.toContain('1.0.dist-info');
  await sh('mkdir -p kept; python3 -c "import over_lay"');
  const gone = await sh('pip uninstall -y over-lay nobody; pip list; python3 -c "import over_lay"');
  expect(gone.stdout).toContain('Successfully uninstalled Over.Lay-1.5\n');
  expect(gone.stderr).toMatch(/Skipping nobody[\s\S]*ModuleNotFoundError/);
  expect((await sh('ls .local/lib/python3.13/site-packages')).stdout).toBe(
    'deep_er\ndeep_er-1.4.dist-info\nextra_one\nextra_one-0.1.dist-info\n',
  );
});

test('a file of requirements, constraints, a page of HTML, a wheel of the sandbox and a folder of one’s own are taken', async () => {
  isHtml = true;
  await put('one', '1.0', { listed: { 'requires-python': '>=3.8' } });
  await put('one', '2.0', { listed: { 'requires-python': '>=3.99' } });
  await put('one', '1.9', { listed: { yanked: true } });
  await put('two', '1.0');
  await put('two', '1.1');
  const sh = await box();
  const said = await sh(
    'printf "# all\\none>=1\\n-c limits.txt\\ntwo  # too\\n" > requirements.txt; echo "two<1.1" > limits.txt; pip3 install -r requirements.txt -t lib; ls lib; pip list',
  );
  expect(said.stdout).toContain(
    'Successfully installed one-1.0 two-1.0\none\none-1.0.dist-info\ntwo\ntwo-1.0.dist-info\n',
  );
  await sh(`curl -sO ${net.plain}/files/two-1.1-py3-none-any.whl`);
  const local = await sh('pip install ./two-1.1-py3-none-any.whl && python3 -c "import two; print(two.version)"');
  expect(local).toMatchObject({ stdout: expect.stringContaining('\n1.1\n'), stderr: '' });
});

test('what cannot be had is said with its reason, and nothing is written', async () => {
  await put('needs', '1.0', { requires: ['shared<2'] });
  await put('wants', '1.0', { requires: ['shared>=2'] });
  await put('shared', '1.0');
  await put('shared', '2.0');
  await put('binary', '1.0', { tags: 'cp313-cp313-manylinux_2_17_x86_64' });
  await put('forged', '1.0', { listed: { hashes: { sha256: '0'.repeat(64) } } });
  await put('wrong', '1.0', { bytes: Buffer.from('no zip at all') });
  await put('direct', '1.0', { requires: ['other @ https://example.com/other.whl'] });
  const sh = await box();
  const cases: Record<string, RegExp> = {
    'pip install nobody-has-it': /there is no package "nobody-has-it" on http:\/\/plain\.test/,
    'pip install binary': /no wheel of pure Python of "binary".*its 1 files are sources, or for another machine/,
    'pip install forged': /forged-1\.0-py3-none-any\.whl is not what the index says: its SHA-256 is/,
    'pip install wrong': /wrong-1\.0-py3-none-any\.whl is no wheel/,
    'pip install direct': /names an address/,
    'pip install needs wants':
      /no version of "shared" is allowed by everybody who asks: .*shared<2 \(of needs 1\.0\).*There are 2\.0, 1\.0/s,
    'pip install "needs==9"': /no version of "needs" is allowed.*needs==9\. There are 1\.0/,
    'pip install "ne eds"': /Invalid requirement: 'ne eds'/,
    'pip install .': /would have to be built/,
    'pip install git+https://example.com/x': /would have to be built/,
    'pip install -r nofile.txt': /Could not open requirements file: nofile\.txt: No such file/,
    'pip install -i ftp://x/ needs': /no address of an index/,
    'pip install -e needs': /invalid option -- 'e'/,
    'pip conjure': /unknown command or option "conjure"/,
  };
  for (const [command, sentence] of Object.entries(cases)) {
    const { exit_code: code, stdout, stderr } = await sh(command);
    expect([command, code > 0, stdout.includes('Successfully')]).toEqual([command, true, false]);
    expect(stderr, command).toMatch(sentence);
  }
  expect((await sh('ls -A')).stdout).toBe('');
  await net.allow([{ url: `${net.plain}/files/` }]);
  expect((await sh('pip install needs')).stderr).toMatch(/not allow.*winterdock network allow/s);
  expect((await net.sh('pip install needs', 'box')).stderr).toMatch(/pypi\.org/);
});

test('a hostile wheel writes nowhere else, and what fails in the middle leaves nothing', async () => {
  const sh = await box();
  const evil = async (name: string, entries: Record<string, string | Buffer>, mode?: number) => {
    await put(name, '1.0', {
      bytes: await zip({ [`${name}-1.0.dist-info/METADATA`]: `Name: ${name}\nVersion: 1.0\n`, ...entries }, mode),
    });
  };
  await evil('linked', { 'linked/a': '/workspace/secret' }, 0o120777);
  await evil('renamed', {});
  packages.set(
    'other',
    (packages.get('renamed') ?? []).map((file) => ({ ...file, filename: 'other-1.0-py3-none-any.whl' })),
  );
  await evil('bomb', { 'bomb/zeros': Buffer.alloc(120_000_000) });
  const plain = await zip({ 'climbs-1.0.dist-info/METADATA': 'Name: climbs\nVersion: 1.0\n', 'aa/aa/aa/aa/evil': 'x' });
  await put('climbs', '1.0', {
    bytes: Buffer.from(plain.toString('latin1').replaceAll('aa/aa/aa/aa/evil', '../../../../evil'), 'latin1'),
  });
  for (const [name, sentence] of [
    ['linked', /is a link/],
    ['other', /says that it is "renamed"/],
    ['bomb', /unpacks to more than/],
    ['climbs', /no wheel that can be installed/],
  ] as const) {
    const { exit_code: code, stderr } = await sh(`pip install ${name}`);
    expect([name, code]).toEqual([name, 1]);
    expect(stderr).toMatch(sentence);
  }
  expect((await sh('find / -name evil 2>/dev/null; ls -A')).stdout).toBe('');
  // A package that names files of others in its RECORD takes only its own folder with it.
  await put('greedy', '1.0', {
    more: { 'greedy-1.0.dist-info/RECORD': '../../../../../kept,,\n/workspace/kept,,\ngreedy/__init__.py,,\n' },
  });
  await sh('echo mine > kept; pip install greedy; pip uninstall -y greedy');
  expect((await sh('cat kept; ls .local/lib/python3.13/site-packages')).stdout).toBe('mine\n');
  // Nothing of a package is run before somebody imports it.
  const runs = 'open("/workspace/ran", "w").close()\n';
  await put('eager', '1.0', {
    code: runs,
    more: { 'setup.py': runs, 'eager/setup.py': runs, 'eager.pth': `import os; ${runs}` },
  });
  expect((await sh('pip install -q eager; ls ran; python3 -c "import eager"; ls ran')).stdout).toBe('ran\n');
  await put('loop-a', '1.0', { requires: ['loop-b'] });
  await put('loop-b', '1.0', { requires: ['loop-a'] });
  expect((await sh('pip install loop-a')).stdout).toContain('Successfully installed loop-a-1.0 loop-b-1.0');
});

test('an installation is stopped with its call, and a wheel that has no room changes nothing', async () => {
  await put('slow', '1.0');
  await put('large', '1.0', { more: { 'large/data': Buffer.alloc(3_000_000, 'x') } });
  const answer = net.answer;
  const sh = await box();
  net.answer = (request, response) => {
    if (request.url?.startsWith('/files/slow')) return;
    answer(request, response);
  };
  expect((await sh(`timeout 2 pip install -i ${net.plain}/simple slow; echo $?; ls -A`)).stdout).toMatch(/124\n$/);
  await net.server.call('POST', '/api/instances', { id: 'small', tenant: TENANT, policy: 'network' });
  const { status } = await net.server.call('PATCH', `/api/tenants/${TENANT}`, { max_bytes: 2_000_000 });
  expect(status).toBeLessThan(300);
  const full = await net.sh(`pip install -i ${net.plain}/simple large; ls -A .local 2>&1`, 'small');
  await net.server.call('PATCH', `/api/tenants/${TENANT}`, { max_bytes: null });
  expect(full.stderr).toMatch(/no space left/i);
  expect(full.stdout).not.toContain('Successfully');
});

test('an upgrade that cannot be written leaves what was there', async () => {
  await put('kept', '1.0', { more: { 'kept/first.py': 'one = 1\n' } });
  await put('kept', '2.0', { more: { 'kept/zeros': Buffer.alloc(70_000_000) } });
  await put('folder', '1.0');
  const sh = await box();
  await sh('pip install -q kept==1.0');
  const large = await sh(
    'pip install -U kept; python3 -c "import kept.first; print(kept.version, kept.first.one)"; pip list',
  );
  expect(large.stderr).toMatch(/Could not install packages/);
  expect(large.stdout).toMatch(/^1\.0 1$/m);
  await sh('mkdir -p .local/lib/python3.13/site-packages/folder/__init__.py');
  const blocked = await sh(
    'pip install folder kept==1.0 --force-reinstall; python3 -c "import kept; print(kept.version)"',
  );
  expect(blocked.stderr).toMatch(/folder\/__init__\.py is in the way/);
  expect(blocked.stdout).toMatch(/^1\.0$/m);
  expect((await sh('ls -A .local/lib/python3.13/site-packages')).stdout).toBe('folder\nkept\nkept-1.0.dist-info\n');
});

test('what the index sends is counted, and a refusal is in the ledger', async () => {
  await put('counted', '1.0');
  const sh = await box();
  expect((await sh('pip install -q counted; echo $?')).stdout).toBe('0\n');
  expect(net.asked.filter((line) => line.includes('counted'))).toEqual([
    'GET /simple/counted/',
    'GET /files/counted-1.0-py3-none-any.whl',
  ]);
  await net.allow([]);
  expect((await sh('pip install nobody')).exit_code).toBe(1);
  await expect.poll(async () => (await net.lines('network.refused')).length).toBeGreaterThan(0);
});
