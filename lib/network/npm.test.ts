/** `npm` in a sandbox, against a real registry on this machine, and `require` of what it installed. */
import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type NetworkServer, startNetworkServer, TENANT } from './testing/network-server.ts';

let net: NetworkServer;
/** Bytes by the name of a file, and the versions of each package. */
let files: Map<string, Buffer>;
let packages: Map<string, Record<string, Record<string, unknown>>>;
let boxes = 0;

beforeAll(async () => {
  net = await startNetworkServer();
});
afterAll(() => net.stop());
beforeEach(async () => {
  [files, packages] = [new Map(), new Map()];
  await net.allow([{ url: `${net.plain}/` }]);
  net.answer = (request, response) => {
    const path = decodeURIComponent(request.url ?? '').slice(1);
    const versions = packages.get(path);
    const content = files.get(path);
    if (content !== undefined) response.end(content);
    else if (versions === undefined) response.writeHead(404).end('{}');
    else {
      const released = Object.keys(versions).filter((version) => !version.includes('-'));
      response.end(
        JSON.stringify({ 'dist-tags': { latest: released.at(-1), next: Object.keys(versions).at(-1) }, versions }),
      );
    }
  };
});

async function tarball(entries: Record<string, string | Buffer>, links: Record<string, string> = {}): Promise<Buffer> {
  const tar = pack();
  for (const [name, content] of Object.entries(entries)) tar.entry({ name }, content as string);
  for (const [name, linkname] of Object.entries(links)) tar.entry({ name, type: 'symlink', linkname });
  tar.finalize();
  const parts: Buffer[] = [];
  for await (const part of tar) parts.push(part as Buffer);
  return gzipSync(Buffer.concat(parts));
}

interface Made {
  code?: string;
  manifest?: Record<string, unknown>;
  more?: Record<string, string | Buffer>;
  listed?: Record<string, unknown>;
  bytes?: Buffer;
}

/** Puts a package on the registry; requiring it gives its version, and those of what it needs. */
async function put(name: string, version: string, { code, manifest = {}, more = {}, listed = {}, bytes }: Made = {}) {
  const needs = Object.keys((manifest.dependencies as object) ?? {});
  const body =
    code ??
    `module.exports = [${JSON.stringify(`${name}@${version}`)}, ${needs.map((one) => `...require(${JSON.stringify(one)})`).join(', ')}].flat();\n`;
  const said = { name, version, ...manifest };
  const content =
    bytes ?? (await tarball({ 'package/package.json': JSON.stringify(said), 'package/index.js': body, ...more }));
  const path = `${name}/-/${name.split('/').at(-1)}-${version}.tgz`;
  files.set(path, content);
  const integrity = `sha512-${createHash('sha512').update(content).digest('base64')}`;
  const dist = { tarball: `${net.plain}/${path}`, integrity };
  packages.set(name, { ...packages.get(name), [version]: { ...said, dist, ...listed } });
}

/** A new sandbox. Returns what runs a line in it. */
async function box(): Promise<(command: string) => ReturnType<NetworkServer['sh']>> {
  boxes += 1;
  const id = `npm-${boxes}`;
  await net.server.call('POST', '/api/instances', { id, tenant: TENANT, policy: 'network' });
  await net.server.call('PUT', `/api/instances/${id}/network`, { rules: null, requests_per_minute: 10_000 });
  return (command) => net.sh(`export npm_config_registry=${net.plain}\n${command}`, id);
}

test('packages are installed with what they need, beside each other where they differ, required, listed and removed', async () => {
  await put('shared', '1.0.0');
  await put('shared', '2.0.0');
  await put('@team/old', '1.0.0', { manifest: { dependencies: { shared: '^1.0.0' } } });
  await put('new', '1.1.0', { manifest: { dependencies: { shared: '>=2' } } });
  await put('new', '2.0.0-rc.1');
  const sh = await box();
  const first = await sh(
    "npm init -y > /dev/null; npm install @team/old new@^1; js -e \"console.log(require('@team/old').join(), require('new').join())\"",
  );
  expect(first).toMatchObject({ stderr: '', exit_code: 0 });
  expect(first.stdout).toBe('\nadded 4 packages in 1s\n@team/old@1.0.0,shared@1.0.0 new@1.1.0,shared@2.0.0\n');
  expect(
    (
      await sh(
        'find node_modules -name package.json | sort; js -e "console.log(JSON.stringify(require(\'./package.json\').dependencies))"',
      )
    ).stdout,
  ).toBe(
    'node_modules/@team/old/package.json\nnode_modules/new/node_modules/shared/package.json\nnode_modules/new/package.json\nnode_modules/shared/package.json\n{"@team/old":"^1.0.0","new":"^1"}\n',
  );
  expect((await sh('npm install')).stdout).toBe('\nup to date in 1s\n');
  await put('new', '1.2.0', { manifest: { dependencies: { shared: '>=2' } } });
  expect((await sh('npm i -D new@latest; npm ls')).stdout).toBe(
    '\nadded 1 package in 1s\nworkspace@1.0.0 /workspace\n├── @team/old@1.0.0\n├── new@1.2.0\n└── shared@1.0.0\n',
  );
  expect(
    (await sh('mkdir -p a/b; cd a/b; js -e "console.log(require(\'new\').join())"; npm rm new; npm ls')).stdout,
  ).toBe(
    'new@1.2.0,shared@2.0.0\n\nremoved 1 package\nworkspace@1.0.0 /workspace\n├── @team/old@1.0.0\n└── shared@1.0.0\n',
  );
  expect(
    (await sh('rm -r node_modules; npm install > /dev/null; js -e "console.log(require(\'@team/old\').join())"'))
      .stdout,
  ).toBe('@team/old@1.0.0,shared@1.0.0\n');
});

test('a lock is followed to the byte, and optional packages may be missing', async () => {
  await put('locked', '1.0.0');
  await put('locked', '1.1.0');
  await put('native', '1.0.0', { manifest: { scripts: { install: 'node-gyp rebuild' } } });
  await put('main', '1.0.0', { manifest: { optionalDependencies: { native: '*', nobody: '*' } } });
  const sh = await box();
  const dist = packages.get('locked')?.['1.0.0']?.dist as { tarball: string; integrity: string };
  const lock = {
    lockfileVersion: 3,
    packages: {
      '': {},
      'node_modules/locked': { version: '1.0.0', resolved: dist.tarball, integrity: dist.integrity },
    },
  };
  await sh(
    `echo '{"name":"p","version":"1.0.0","dependencies":{"locked":"^1"}}' > package.json; echo '${JSON.stringify(lock)}' > package-lock.json`,
  );
  expect((await sh('npm ci; js -e "console.log(require(\'locked\').join())"')).stdout).toContain('locked@1.0.0\n');
  const forged = JSON.stringify(lock).replace(/sha512-[^"]{10}/, 'sha512-AAAAAAAAAA');
  expect((await sh(`echo '${forged}' > package-lock.json; npm ci`)).stderr).toMatch(
    /locked@1\.0\.0 is not what the registry says/,
  );
  expect((await sh('js -e "console.log(require(\'locked\').join())"')).stdout).toBe('locked@1.0.0\n');
  const optional = await sh('rm package-lock.json; npm i main; ls node_modules');
  expect(optional.stderr).toMatch(/optional native was left out: .*script[\s\S]*optional nobody was left out/);
  expect(optional.stdout).toBe('\nadded 1 package in 1s\nlocked\nmain\n');
});

test('what cannot be had is said with its reason, and nothing is written', async () => {
  await put('native', '1.0.0', { manifest: { scripts: { postinstall: 'touch ran' } } });
  await put('quiet', '1.0.0', { listed: { hasInstallScript: true } });
  await put('forged', '1.0.0', {
    listed: { dist: { tarball: `${net.plain}/native/-/native-1.0.0.tgz`, integrity: 'sha512-AAAA' } },
  });
  await put('hashless', '1.0.0', { listed: { dist: { tarball: `${net.plain}/native/-/native-1.0.0.tgz` } } });
  await put('plain', '1.0.0');
  await put('needs', '1.0.0', { manifest: { dependencies: { plain: '^9' } } });
  await put('elsewhere', '1.0.0', { manifest: { dependencies: { plain: 'git+https://example.com/x.git' } } });
  const sh = await box();
  const cases: Record<string, RegExp> = {
    'npm i nobody': /there is no package "nobody" on http:\/\/plain\.test/,
    'npm i native': /native@1\.0\.0 has a script that installs it, and scripts of packages are not run/,
    'npm i quiet': /quiet@1\.0\.0 has a script/,
    'npm i forged': /forged@1\.0\.0 is not what the registry says/,
    'npm i hashless': /has no hash/,
    'npm i needs': /no version of plain is in "\^9"; the latest is 1\.0\.0/,
    'npm i elsewhere': /only packages of the registry/,
    'npm i plain@later': /there is no version or tag "later" of plain/,
    'npm i ../x': /only packages of the registry/,
    'npm i https://example.com/x.tgz': /only packages of the registry/,
    'npm i -g plain': /leave -g away/,
    'npm i --registry ftp://x plain': /no address of a registry/,
    'npm ci': /needs a package-lock\.json/,
    'npm test': /there is no Node\.js in a sandbox/,
    'npm conjure': /Unknown command/,
    'npm i --conjure plain': /unrecognized option '--conjure'/,
  };
  for (const [command, sentence] of Object.entries(cases)) {
    const { exit_code: code, stderr } = await sh(command);
    expect([command, code]).toEqual([command, 1]);
    expect(stderr, command).toMatch(sentence);
  }
  expect((await sh('ls -A')).stdout).toBe('');
  await net.allow([{ url: 'https://other.test/' }]);
  expect((await sh('npm i plain')).stderr).toMatch(/winterdock network allow http:\/\/plain\.test/);
});

test('a hostile package writes nowhere else and runs nothing, and is no other than it says', async () => {
  const sh = await box();
  const json = (name: string) => ({ 'package/package.json': JSON.stringify({ name, version: '1.0.0' }) });
  await put('climbs', '1.0.0', { bytes: await tarball({ ...json('climbs'), 'package/../../../evil': 'x' }) });
  await put('rooted', '1.0.0', { bytes: await tarball({ ...json('rooted'), '/evil': 'x' }) });
  await put('bomb', '1.0.0', { bytes: await tarball({ ...json('bomb'), 'package/zeros': Buffer.alloc(120_000_000) }) });
  await put('other', '1.0.0', { bytes: await tarball(json('another')) });
  await put('broken', '1.0.0', { bytes: Buffer.from('\x1f\x8b no archive') });
  for (const name of ['climbs', 'rooted', 'bomb', 'other', 'broken']) {
    expect([name, (await sh(`npm i ${name}`)).exit_code]).toEqual([name, 1]);
  }
  expect((await sh('find / -name evil 2>/dev/null; ls -A')).stdout).toBe('');
  await put('linked', '1.0.0', { bytes: await tarball(json('linked'), { 'package/out': '/workspace/kept' }) });
  await sh('echo mine > kept; npm i linked');
  expect((await sh('ls node_modules/linked; cat kept')).stdout).toBe('package.json\nmine\n');
  packages.set('../../evil', packages.get('linked') ?? {});
  await put('names', '1.0.0', { manifest: { dependencies: { '../../evil': '*' } } });
  expect((await sh('npm i names')).stderr).toMatch(/"\.\.\/\.\.\/evil" is no name of a package/);
  await put('ring-a', '1.0.0', {
    code: 'exports.name = "a"; exports.other = require("ring-b").name;',
    manifest: { dependencies: { 'ring-b': '*' } },
  });
  await put('ring-b', '1.0.0', {
    code: 'exports.other = require("ring-a").name; exports.name = "b";',
    manifest: { dependencies: { 'ring-a': '*' } },
  });
  expect(
    (
      await sh(
        "npm i ring-a > /dev/null; js -e \"console.log(JSON.stringify([require('ring-a'), require('ring-b')]))\"",
      )
    ).stdout,
  ).toBe('[{"name":"a","other":"b"},{"other":"a","name":"b"}]\n');
});

test('an upgrade that cannot be written leaves what was there', async () => {
  await put('kept', '1.0.0', { more: { 'package/first.js': 'module.exports = 1;\n' } });
  await put('kept', '2.0.0', { more: { 'package/zeros': Buffer.alloc(70_000_000) } });
  const sh = await box();
  await sh('npm install kept@1.0.0');
  const said = await sh(
    "npm install kept@2.0.0; js -e \"console.log(require('kept'), require('kept/first.js'))\"; ls -A",
  );
  expect(said.stderr).toMatch(/could not be written/);
  expect(said.stdout).toBe("[ 'kept@1.0.0' ] 1\nnode_modules\npackage.json\n");
  // What lies where a package goes makes way for it.
  await put('other', '1.0.0');
  await sh('rm -r node_modules/kept; echo mine > node_modules/other');
  const made = await sh('npm install --silent other && js -e "console.log(require(\'other\'))"');
  expect(made).toMatchObject({ stderr: '', stdout: "[ 'other@1.0.0' ]\n" });
});

test('require finds files, folders, JSON and conditional exports, and says what it cannot take', async () => {
  await put('many', '1.0.0', {
    manifest: {
      main: 'index.js',
      exports: {
        '.': { import: './esm.mjs', require: './index.js' },
        './deep/*': './lib/*.js',
        './package.json': './package.json',
      },
    },
    more: {
      'package/lib/one.js': 'module.exports = __filename + " " + process.env.WHO;',
      'package/esm.mjs': 'export default 1',
    },
  });
  await put('modern', '1.0.0', { manifest: { type: 'module' }, code: 'export default 1;' });
  const sh = await box();
  await sh(`npm i many modern
mkdir -p src/sub; echo '{"n": 1}' > src/data.json; echo 'exports.at = __dirname; exports.n = require("../data").n' > src/sub/index.js
printf '#!/usr/bin/env js\\nthis.shebang = true;' > src/bang.cjs; echo 'throw new Error("once")' > src/bad.js`);
  const js = async (code: string) => {
    await sh(`cat > src/main.js <<'EOF'\n${code}\nEOF`);
    const { stdout, stderr } = await sh('WHO=me js src/main.js x');
    return stdout + stderr;
  };
  expect(
    await js(
      'console.log(JSON.stringify([require("./sub"), require("./bang.cjs"), require("many/deep/one"), require.resolve("many"), args]))',
    ),
  ).toBe(
    '[{"at":"/workspace/src/sub","n":1},{"shebang":true},"/workspace/node_modules/many/lib/one.js me","/workspace/node_modules/many/index.js",["x"]]\n',
  );
  expect(
    await js('for (const n of [1, 2]) try { require("./bad") } catch (error) { console.log(n, error.message) }'),
  ).toBe('1 once\n2 once\n');
  expect(await js('require("many/lib/one.js")')).toMatch(/not defined by "exports"/);
  expect(await js('console.log(require("modern").default)')).toBe('1\n');
  expect(await js('import many from "many"; import modern from "modern"; console.log(many, modern)')).toBe('1 1\n');
  expect(await js('require("http")')).toMatch(/'http' is a module of Node\.js that is not here: nothing listens/);
  expect(await js('require("./nothing")')).toMatch(/Cannot find module '\.\/nothing'/);
  expect(await js('require("/etc/passwd")')).toMatch(/Cannot find module/);
});
