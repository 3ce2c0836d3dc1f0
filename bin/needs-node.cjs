'use strict';
/**
 * Whether this machine and this Node can run Winterdock, and where the pinned Node is that can. Plain JavaScript of an
 * old kind: the Node that must be told about is the one that runs it. Knows nothing of the server.
 */
const { spawn } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');

/** The oldest Node that has what the engine asks of `node:sqlite`: an authoriser, and limits (24.15). */
const OLDEST = [24, 15];

/** Where a sandbox's process can be stopped and a folder be made durable. */
const SYSTEMS = ['linux', 'darwin'];

/** The packages of package.json that are a Node for such a machine; they are built for glibc. */
function packagesFor(on) {
  if (on.musl) return [];
  const { optionalDependencies = {} } = JSON.parse(fs.readFileSync(path.join(on.root, 'package.json'), 'utf8'));
  return Object.keys(optionalDependencies).filter((name) => name.endsWith(`-${on.platform}-${on.arch}`));
}

/**
 * The Node that npm installed; null where there is none. npm 10 takes the link in `.bin` away again, together with the
 * packages for other machines, which have one of the same name.
 */
function pinnedNode(on) {
  const places = ['.bin/node'].concat(packagesFor(on).map((name) => `${name}/bin/node`));
  const found = places.map((place) => path.join(on.root, 'node_modules', place)).find((file) => fs.existsSync(file));
  return found === undefined ? null : fs.realpathSync(found);
}

/** What keeps Winterdock from running here, as one sentence; null when nothing does. */
function whatIsWrong(on) {
  if (!SYSTEMS.includes(on.platform)) {
    return `Winterdock runs on Linux and macOS, and this machine is ${on.platform}-${on.arch}.`;
  }
  const [major, minor] = on.version.split('.').map(Number);
  if (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])) return null;
  const wrong = `Winterdock needs Node ${OLDEST.join('.')} or later, and this is Node ${on.version}`;
  const pinned = pinnedNode(on);
  if (pinned !== null) return `${wrong}: start it with npm, or with ${pinned}.`;
  if (packagesFor(on).length > 0) return `${wrong}: run \`npm ci\`, which brings one.`;
  return `${wrong}: npm has none for ${on.platform}-${on.arch}${on.musl ? ' with musl' : ''}, so install one.`;
}

/** This process's own case. */
const here = {
  version: process.versions.node,
  platform: process.platform,
  arch: process.arch,
  root: path.dirname(__dirname),
  /** Asked only where something is wrong: the report takes milliseconds. */
  get musl() {
    return process.platform === 'linux' && process.report.getReport().header.glibcVersionRuntime === undefined;
  },
};

/** Ends the process with the sentence where it cannot run. */
function orEnd() {
  const wrong = whatIsWrong(here);
  if (wrong === null) return;
  process.stderr.write(`${wrong}\n`);
  process.exit(1);
}

/** Runs `pinned` in this process's stead, first on the PATH of whatever it starts, and ends as it does. */
function handOver(pinned, args) {
  const first = path.dirname(pinned) + path.delimiter + process.env.PATH;
  const child = spawn(pinned, args, { stdio: 'inherit', env: Object.assign({}, process.env, { PATH: first }) });
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  // A terminal has sent it to both; a second one would end the server in the midst of its stop.
  process.on('SIGINT', () => process.stdin.isTTY || child.kill('SIGINT'));
  child.on('exit', (code, signal) => {
    process.exitCode = code === null ? (signal === 'SIGINT' ? 130 : 143) : code;
  });
}

/** Whether this process can go on. Where it cannot, the pinned Node runs `args` instead, or the sentence is said. */
function canRun(args) {
  const wrong = whatIsWrong(here);
  if (wrong === null) return true;
  const pinned = pinnedNode(here);
  if (SYSTEMS.includes(here.platform) && pinned !== null && pinned !== process.execPath) handOver(pinned, args);
  else orEnd();
  return false;
}

module.exports = { whatIsWrong, here, orEnd, canRun };
