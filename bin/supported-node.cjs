'use strict';
/**
 * Whether this machine and this Node can run Winterdock, and where the pinned Node is that can. Plain old JavaScript: a
 * Node that is too old must still be able to run this file. Knows nothing of the server.
 */
const { spawn } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');

/** The oldest supported Node (24.15): the first whose `node:sqlite` has an authoriser and limits. */
const OLDEST = [24, 15];

/** The platforms that can pause a process and fsync a folder. */
const SYSTEMS = ['linux', 'darwin'];

/** The packages of package.json that contain a Node for this machine. They are built for glibc. */
function packagesFor(machine) {
  if (machine.musl) return [];
  const { optionalDependencies = {} } = JSON.parse(fs.readFileSync(path.join(machine.root, 'package.json'), 'utf8'));
  return Object.keys(optionalDependencies).filter((name) => name.endsWith(`-${machine.platform}-${machine.arch}`));
}

/**
 * The path of the Node that npm installed; null when there is none. The link in `.bin` may be missing: npm 10 removes
 * it together with the packages for other platforms, which have a link of the same name.
 */
function pinnedNode(machine) {
  const candidates = ['.bin/node'].concat(packagesFor(machine).map((name) => `${name}/bin/node`));
  const found = candidates
    .map((name) => path.join(machine.root, 'node_modules', name))
    .find((file) => fs.existsSync(file));
  return found === undefined ? null : fs.realpathSync(found);
}

/** Why Winterdock cannot run on a machine, as one sentence; null when it can. */
function unsupportedReason(machine) {
  if (!SYSTEMS.includes(machine.platform)) {
    return `Winterdock runs on Linux and macOS, and this machine is ${machine.platform}-${machine.arch}.`;
  }
  const [major, minor] = machine.version.split('.').map(Number);
  if (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])) return null;
  const wrong = `Winterdock needs Node ${OLDEST.join('.')} or later, and this is Node ${machine.version}`;
  const pinned = pinnedNode(machine);
  if (pinned !== null) return `${wrong}: start it with npm, or with ${pinned}.`;
  if (packagesFor(machine).length > 0) return `${wrong}: run \`npm ci\`, which brings one.`;
  return `${wrong}: npm has none for ${machine.platform}-${machine.arch}${machine.musl ? ' with musl' : ''}, so install one.`;
}

/** The machine and the Node that run this process. */
const thisMachine = {
  version: process.versions.node,
  platform: process.platform,
  arch: process.arch,
  root: path.dirname(__dirname),
  /** A getter, because the report takes milliseconds and is needed only for the message. */
  get musl() {
    return process.platform === 'linux' && process.report.getReport().header.glibcVersionRuntime === undefined;
  },
};

/** Ends the process, with the reason on stderr, when it cannot run Winterdock. */
function requireSupportedNode() {
  const reason = unsupportedReason(thisMachine);
  if (reason === null) return;
  process.stderr.write(`${reason}\n`);
  process.exit(1);
}

/** Runs `pinned` as a child, puts it first on the child's PATH, forwards signals and ends with its exit code. */
function handOver(pinned, args) {
  const first = path.dirname(pinned) + path.delimiter + process.env.PATH;
  const child = spawn(pinned, ['--disable-sigusr1', ...args], {
    stdio: 'inherit',
    env: Object.assign({}, process.env, { PATH: first }),
  });
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  // A terminal sends these to both; a second one would cut the server's stop short.
  for (const signal of ['SIGINT', 'SIGQUIT']) process.on(signal, () => process.stdin.isTTY || child.kill(signal));
  // Nor does this process open a debugger.
  process.on('SIGUSR1', () => {});
  child.on('exit', (code, signal) => {
    process.exitCode = code === null ? (signal === 'SIGINT' ? 130 : 143) : code;
  });
}

/** True when this Node can run Winterdock. Otherwise the pinned Node runs `args`, or the process ends. */
function continueOrHandOver(args) {
  const reason = unsupportedReason(thisMachine);
  if (reason === null) return true;
  const pinned = pinnedNode(thisMachine);
  if (SYSTEMS.includes(thisMachine.platform) && pinned !== null && pinned !== process.execPath) handOver(pinned, args);
  else requireSupportedNode();
  return false;
}

module.exports = { unsupportedReason, thisMachine, requireSupportedNode, continueOrHandOver };
