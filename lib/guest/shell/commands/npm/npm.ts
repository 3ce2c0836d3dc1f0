/** `npm`: packages without scripts from a registry that the network's list allows, into the project. */
import type { CommandCall, OwnCommand } from '../own-command.ts';
import { PackageError, packageSource } from '../package-source.ts';
import { Project } from './project.ts';
import { downloadPackage, isPackageName, type PackageManifest, type Packument, packumentOf, pick } from './registry.ts';
import { unpackPackage } from './tarball.ts';
import { planTree, reachablePackages, type Wanted } from './tree.ts';

const REGISTRY = 'https://registry.npmjs.org';
const USAGE = `Usage: npm install [-D] [-E] [--no-save] [--registry URL] [PACKAGE[@VERSION]]...
       npm ci | npm uninstall PACKAGE... | npm ls | npm init -y
Packages of a registry alone, and none of their scripts is run. The registry is reached through the server: the sandbox
needs the policy "network", and its list https://registry.npmjs.org/, or a mirror.`;
const OPTIONS = {
  letters: 'DESPgyd',
  long: {
    ...{ 'save-dev': 'D', 'save-exact': 'E', save: 'S', 'save-prod': 'P', 'no-save': 'no-save', global: 'g', yes: 'y' },
    ...{ 'registry=': 'registry', production: 'production', 'omit=': 'omit', silent: 'silent', force: 'none' },
    // What makes no difference here: no script is run, nothing is audited or asked for.
    ...{ 'ignore-scripts': 'none', 'no-audit': 'none', 'no-fund': 'none', 'legacy-peer-deps': 'none', quiet: 'silent' },
    ...{
      'prefer-offline': 'none',
      'no-progress': 'none',
      'no-package-lock': 'none',
      'loglevel=': 'none',
      json: 'json',
    },
  },
};
const NO_SCRIPTS = 'there is no Node.js in a sandbox: use `js FILE`, which has require';

export const npm: OwnCommand = {
  usageExit: 1,
  like: 'npm 11.0, which it is not',
  help: USAGE,
  async main(call: CommandCall) {
    if (call.isTrial) return 0;
    const [verb = '', ...args] = call.args;
    if (verb === '--version' || verb === '-v') {
      call.print('11.0.0\n');
      return 0;
    }
    call.args.splice(0, call.args.length, ...args);
    try {
      return await perform(call, verb);
    } catch (error) {
      if (!(error instanceof PackageError)) throw error;
      call.warn(`npm error ${error.message}\n`);
      return 1;
    }
  },
};

async function perform(call: CommandCall, verb: string): Promise<number> {
  switch (verb) {
    case 'install':
    case 'i':
    case 'add':
      return install(call, false);
    case 'ci':
    case 'clean-install':
      return install(call, true);
    case 'uninstall':
    case 'remove':
    case 'rm':
    case 'un':
      return uninstall(call);
    case 'ls':
    case 'list':
      return list(call);
    case 'init':
      return init(call);
    case 'run':
    case 'run-script':
    case 'start':
    case 'test':
    case 'exec':
      throw new PackageError(NO_SCRIPTS);
    case '':
    case 'help':
    case '-h':
    case '--help':
      call.print(`${USAGE}\n`);
      return verb === '' ? 1 : 0;
    default:
      throw new PackageError(`Unknown command: "${verb}"\n${USAGE}`);
  }
}

/** A package that was typed: `name`, `name@range`, `@scope/name@tag`. */
function spec(text: string): { name: string; version: string } {
  const [, name = '', version = ''] = /^(@?[^@]+)(?:@(.*))?$/s.exec(text) ?? [];
  if (!isPackageName(name) || /[:/]/.test(version)) {
    throw new PackageError(`"${text}": only packages of the registry are installed`);
  }
  return { name, version };
}

async function install(call: CommandCall, isClean: boolean): Promise<number> {
  const began = performance.now();
  const { options, operands } = call.options(OPTIONS);
  const has = (key: string) => options.some((option) => option.key === key);
  const value = (key: string) => options.findLast((option) => option.key === key)?.value ?? null;
  if (has('g')) throw new PackageError('nothing is installed for every project: leave -g away');
  const registry = value('registry') ?? call.context.env.get('npm_config_registry') ?? REGISTRY;
  if (!/^https?:\/\/\S+$/.test(registry)) throw new PackageError(`"${registry}" is no address of a registry`);
  const project = await Project.find(call);
  const asked = operands.map(spec);
  const locked = asked.length === 0 ? await project.locked() : null;
  if (isClean && locked === null) throw new PackageError('npm ci needs a package-lock.json');
  const fetch = packageSource(call);

  const packuments = new Map<string, Promise<Packument>>();
  const manifest = async (name: string, version: string) => {
    const known = packuments.get(name) ?? packumentOf(name, registry, fetch);
    packuments.set(name, known);
    return pick(await known, name, version);
  };
  const skipped = (name: string, why: string) => call.warn(`npm warn optional ${name} was left out: ${why}\n`);
  const isDev = !has('production') && value('omit') !== 'dev';
  const wanted: Wanted[] = [
    ...asked.map((one) => ({ ...one, isAsked: true })),
    ...Object.entries({
      ...project.dependencies('dependencies'),
      ...project.dependencies('optionalDependencies'),
      ...(isDev ? project.dependencies('devDependencies') : {}),
    })
      .filter(([name]) => !asked.some((one) => one.name === name))
      .map(([name, version]) => ({ name, version, isAsked: false })),
  ];
  const present = (folder: string) => project.present(folder);
  const plan =
    locked === null
      ? await planTree(wanted, { present, manifest, skipped })
      : await lockedPlan(project, locked, { registry, skipped, isClean });
  const unpacked = new Map<string, Map<string, Buffer>>();
  const bytes = new Map<string, Buffer>();
  for (const [folder, found] of plan) {
    const content = bytes.get(found.tarball) ?? (await downloadPackage(found, fetch));
    bytes.set(found.tarball, content);
    unpacked.set(folder, await unpackPackage(content, found.name, found.version));
    await call.turn();
  }
  const needed = [...unpacked.values()]
    .flatMap((files) => [...files.values()])
    .reduce((sum, { length }) => sum + length, 0);
  const { free } = call.room();
  if (needed > free) throw new PackageError(`no space left: ${needed} bytes are to be written, and ${free} are free`);
  await project.write(unpacked, { isClean });
  if (asked.length > 0 && !has('no-save')) {
    const versions = await Promise.all(
      asked.map(async (one) => [one.name, await savedRange(project, one, has('E'))] as const),
    );
    await project.save(has('D') ? 'devDependencies' : 'dependencies', Object.fromEntries(versions));
    if (call.files.look(`${project.folder}/package-lock.json`) !== null) {
      call.warn('npm warn package-lock.json is not written here, and no longer fits\n');
    }
  }
  if (!has('silent')) {
    const count = plan.size;
    const what = count === 0 ? 'up to date' : `added ${count} package${count === 1 ? '' : 's'}`;
    call.print(`\n${what} in ${Math.max(1, Math.round((performance.now() - began) / 1000))}s\n`);
  }
  return 0;
}

/** What package.json gets: the range that was typed, or one from the version that was installed. */
async function savedRange(project: Project, { name, version }: { name: string; version: string }, isExact: boolean) {
  if (/^[\d^~<>=*xX]/.test(version)) return version;
  const found = await project.present(`node_modules/${name}`);
  return `${isExact ? '' : '^'}${found?.version ?? '*'}`;
}

async function lockedPlan(
  project: Project,
  locked: Awaited<ReturnType<Project['locked']>> & object,
  { registry, skipped, isClean }: { registry: string; skipped: (name: string, why: string) => void; isClean: boolean },
): Promise<Map<string, PackageManifest>> {
  const plan = new Map<string, PackageManifest>();
  for (const [folder, one] of locked) {
    if (one.hasInstallScript) {
      const why = `${one.name}@${one.version} has a script that installs it, and scripts of packages are not run`;
      if (!one.isOptional) throw new PackageError(why);
      skipped(one.name, why);
      continue;
    }
    // A clean installation writes everything anew.
    if (!isClean && (await project.present(folder))?.version === one.version) continue;
    const tarball = one.tarball.startsWith(`${REGISTRY}/`)
      ? `${registry.replace(/\/*$/, '')}${one.tarball.slice(REGISTRY.length)}`
      : one.tarball;
    plan.set(folder, { ...one, tarball, dependencies: {}, optionalDependencies: {} });
  }
  return plan;
}

async function uninstall(call: CommandCall): Promise<number> {
  const { operands } = call.options(OPTIONS);
  if (operands.length === 0) throw new PackageError('Must provide a package name to remove');
  const project = await Project.find(call);
  const names = operands.map((operand) => spec(operand).name);
  const before = await project.installed();
  if (project.manifest !== null)
    await project.save('dependencies', Object.fromEntries(names.map((name) => [name, null])));
  const kinds = ['dependencies', 'devDependencies', 'optionalDependencies'] as const;
  const needed = kinds.flatMap((kind) => Object.keys(project.dependencies(kind)));
  // Without a package.json nobody says what is needed: only what was named goes.
  const kept =
    project.manifest === null
      ? new Set(before.filter((name) => !names.includes(name)).map((name) => `node_modules/${name}`))
      : await reachablePackages(needed, (folder) => project.present(folder));
  const gone = before.filter((name) => !kept.has(`node_modules/${name}`));
  for (const name of gone) await project.remove(`node_modules/${name}`);
  call.print(
    `\n${gone.length === 0 ? 'up to date' : `removed ${gone.length} package${gone.length === 1 ? '' : 's'}`}\n`,
  );
  return 0;
}

async function list(call: CommandCall): Promise<number> {
  const { options } = call.options({ ...OPTIONS, long: { ...OPTIONS.long, 'depth=': 'none', all: 'none' } });
  const project = await Project.find(call);
  const names = await project.installed();
  const found = await Promise.all(names.map((name) => project.present(`node_modules/${name}`)));
  const lines = found.flatMap((one) => (one === null ? [] : [`${one.name}@${one.version}`]));
  if (options.some(({ key }) => key === 'json')) {
    const dependencies = Object.fromEntries(
      found.flatMap((one) => (one === null ? [] : [[one.name, { version: one.version }]])),
    );
    call.print(`${JSON.stringify({ dependencies }, null, 2)}\n`);
    return 0;
  }
  const { name, version } = (project.manifest ?? {}) as { name?: string; version?: string };
  call.print(`${name === undefined ? '' : `${name}@${version ?? ''} `}${project.folder}\n`);
  if (lines.length === 0) call.print('└── (empty)\n');
  for (const [at, line] of lines.entries()) call.print(`${at === lines.length - 1 ? '└──' : '├──'} ${line}\n`);
  return 0;
}

async function init(call: CommandCall): Promise<number> {
  const { options } = call.options(OPTIONS);
  if (!options.some(({ key }) => key === 'y')) throw new PackageError('there is no terminal to ask on: npm init -y');
  const path = `${call.cwd === '/' ? '' : call.cwd}/package.json`;
  if (call.files.look(path) !== null) throw new PackageError('package.json already exists');
  const name = (call.cwd.split('/').at(-1) ?? '').toLowerCase().replace(/[^a-z0-9-._~]/g, '-') || 'project';
  const made = { name, version: '1.0.0', description: '', main: 'index.js', license: 'ISC' };
  await call.changes.writeFile(path, `${JSON.stringify(made, null, 2)}\n`);
  call.print(`Wrote to ${path}:\n\n${JSON.stringify(made, null, 2)}\n`);
  return 0;
}
