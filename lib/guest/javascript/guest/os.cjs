/** `os`: what the sandbox says of itself; nothing of the server's machine. */
'use strict';
const { numbers } = require('system_errors');
const GIB = 1024 ** 3;
const memory = () => JSON.parse(host.memory());
Object.assign(exports, {
  EOL: '\n',
  devNull: '/dev/null',
  arch: () => 'wasm32',
  availableParallelism: () => 1,
  cpus: () => [{ model: 'QuickJS', speed: 0, times: { user: 0, nice: 0, sys: 0, idle: 0, irq: 0 } }],
  endianness: () => 'LE',
  freemem: () => Math.max(0, memory().limit - memory().heapUsed),
  totalmem: () => memory().limit ?? GIB,
  getPriority: () => 0,
  homedir: () => process.env.HOME ?? '/workspace',
  hostname: () => process.env.HOSTNAME ?? 'sandbox',
  loadavg: () => [0, 0, 0],
  machine: () => 'wasm32',
  networkInterfaces: () => ({}),
  platform: () => 'linux',
  release: () => '0.0.0',
  tmpdir: () => (process.env.TMPDIR || '/tmp').replace(/(?<=.)\/$/, ''),
  type: () => 'Linux',
  uptime: () => process.uptime(),
  userInfo: () => ({
    uid: process.getuid(),
    gid: process.getgid(),
    username: process.env.USER ?? 'sandbox',
    homedir: exports.homedir(),
    shell: process.env.SHELL ?? null,
  }),
  version: () => process.version,
  constants: { errno: numbers, signals: { SIGHUP: 1, SIGINT: 2, SIGQUIT: 3, SIGKILL: 9, SIGTERM: 15 }, priority: {} },
});
