/** `pip`: wheels of pure Python from an index that the network's list allows, into the workspace. */
import { SITE_PACKAGES } from '../../../python/python-paths.ts';
import { type CommandCall, CommandEnd, type OwnCommand, reasonOf } from '../own-command.ts';
import { PackageError, packageSource } from '../package-source.ts';
import { StagedFiles } from '../staged-files.ts';
import { type Installed, installedIn, uninstall } from './installed.ts';
import {
  normalName,
  parseRequirement,
  type Requirement,
  RequirementError,
  requirementsOfFile,
} from './requirements.ts';
import { type Package, ResolutionError, resolve } from './resolve.ts';
import { candidatesOf, downloadWheel, wheelName } from './simple-index.ts';
import { readWheel, type Wheel, WheelError } from './wheel.ts';

const PYPI = 'https://pypi.org/simple';
const USAGE = `Usage: pip install [-r FILE] [-c FILE] [-t DIR] [-i URL] [-U] [--pre] [--no-deps] [PACKAGE | WHEEL]...
       pip uninstall [-y] [-r FILE] PACKAGE...
       pip list | freeze | show PACKAGE...
Wheels of pure Python alone: nothing is built. The index is reached through the server: the sandbox needs the policy
"network", and its list https://pypi.org/simple/ and https://files.pythonhosted.org/, or those of a mirror.`;

const INSTALL_OPTIONS = {
  letters: 'r:c:t:i:UqvI',
  long: {
    ...{ 'requirement=': 'r', 'constraint=': 'c', 'target=': 't', 'index-url=': 'i', 'extra-index-url=': 'extra' },
    ...{ upgrade: 'U', quiet: 'q', verbose: 'v', pre: 'pre', 'no-deps': 'no-deps', 'force-reinstall': 'force' },
    // What makes no difference here.
    ...{ user: 'user', 'no-cache-dir': 'none', 'break-system-packages': 'none', 'disable-pip-version-check': 'none' },
    ...{ 'no-input': 'none', 'progress-bar=': 'none', 'root-user-action=': 'none', 'only-binary=': 'none' },
    ...{ 'prefer-binary': 'none', 'ignore-installed': 'force', 'trusted-host=': 'none', 'timeout=': 'none' },
    ...{ 'retries=': 'none', 'no-color': 'none', 'no-warn-script-location': 'none', 'upgrade-strategy=': 'none' },
  },
};

/** A wheel that is to be written, or a package that is there and stays. */
interface Planned extends Package {
  wheel: Wheel | null;
}

export const pip: OwnCommand = {
  usageExit: 2,
  like: 'pip 25.0, which it is not',
  help: USAGE,
  async main(call: CommandCall) {
    if (call.isTrial) return 0;
    const [verb, ...args] = call.args;
    if (verb === '--version' || verb === '-V') {
      call.print('pip 25.0 (built into the sandbox’s shell: wheels of pure Python alone) (python 3.13)\n');
      return 0;
    }
    call.args.splice(0, call.args.length, ...args);
    try {
      switch (verb) {
        case 'install':
          return await install(call);
        case 'uninstall':
          return await remove(call);
        case 'list':
        case 'freeze':
        case 'show':
          return await tell(call, verb);
        case undefined:
        case 'help':
        case '-h':
        case '--help':
          call.print(`${USAGE}\n`);
          return 0;
        default:
          call.warn(`ERROR: unknown command or option "${verb}"\n${USAGE}\n`);
          return 1;
      }
    } catch (error) {
      const isOurs = [RequirementError, ResolutionError, PackageError, WheelError].some(
        (kind) => error instanceof kind,
      );
      if (!isOurs) throw error;
      call.warn(`ERROR: ${(error as Error).message}\n`);
      return 1;
    }
  },
};

async function install(call: CommandCall): Promise<number> {
  const { options, operands } = call.options(INSTALL_OPTIONS);
  const has = (key: string) => options.some((option) => option.key === key);
  const values = (key: string) =>
    options.flatMap((option) => (option.key === key && option.value !== null ? [option.value] : []));
  const say = (line: string) => {
    if (has('q')) return;
    call.print(`${line}\n`);
    call.send();
  };
  const target = values('t').at(-1);
  const folder = target === undefined ? SITE_PACKAGES : call.path(target).replace(/\/$/, '');
  const indexes = [values('i').at(-1) ?? call.context.env.get('PIP_INDEX_URL') ?? PYPI, ...values('extra')];
  for (const index of indexes)
    if (!/^https?:\/\/[^\s]+$/.test(index)) throw new PackageError(`"${index}" is no address of an index`);

  const local = new Map<string, Wheel>();
  const wanted: Requirement[] = [];
  const constraints: Requirement[] = [];
  for (const operand of operands) {
    if (operand.endsWith('.whl')) {
      const wheel = await localWheel(call, operand);
      local.set(normalName(wheel.name), wheel);
      wanted.push({ name: normalName(wheel.name), versions: '', extras: [], by: null });
    } else if (/^(?:\.{0,2}\/|\.$|git\+|https?:)|^-/.test(operand)) {
      throw new RequirementError(
        `'${operand}' would have to be built: only packages of the index are installed, and wheels of the sandbox`,
      );
    } else {
      const requirement = parseRequirement(operand);
      if (requirement !== null) wanted.push(requirement);
    }
  }
  const include = async (path: string) => ({ text: await readText(call, path), by: path });
  for (const path of values('r')) {
    const read = await requirementsOfFile(await readText(call, path), path, include);
    wanted.push(...read.wanted);
    constraints.push(...read.constraints);
  }
  for (const path of values('c'))
    constraints.push(...(await requirementsOfFile(await readText(call, path), path, include)).wanted);
  if (wanted.length === 0 && values('r').length === 0) call.usage('You must give at least one requirement to install');

  const installed = await installedIn(call, folder);
  const isAsked = new Set(wanted.map(({ name }) => name));
  const stays = (name: string) => !has('force') && !(has('U') && isAsked.has(name)) && installed.has(name);
  const fetched = new Map<string, Planned>();
  const listed = new Map<string, ReturnType<typeof candidatesOf>>();
  const fetch = packageSource(call);
  const plan = await resolve<Planned>(wanted, {
    prereleases: has('pre'),
    withoutDependencies: has('no-deps'),
    constraints,
    given(name) {
      const wheel = local.get(name);
      if (wheel !== undefined) return planned(wheel);
      const there = stays(name) ? installed.get(name) : undefined;
      return there === undefined ? null : { ...there, wheel: null };
    },
    candidates(name) {
      if (!listed.has(name)) say(`Collecting ${name}`);
      const found = listed.get(name) ?? candidatesOf(name, indexes, fetch);
      listed.set(name, found);
      return found;
    },
    async fetched(found) {
      const before = fetched.get(found.file);
      if (before !== undefined) return before;
      const bytes = await downloadWheel(found, fetch);
      call.requireTime();
      say(`  Downloading ${found.file} (${sizeOf(bytes.length)})`);
      const made = planned(await readWheel(bytes, found.file));
      fetched.set(found.file, made);
      return made;
    },
  });
  for (const [name, { wheel, version }] of plan) {
    if (wheel === null && isAsked.has(name)) say(`Requirement already satisfied: ${name} in ${folder} (${version})`);
  }
  const wheels = [...plan.values()].flatMap(({ wheel }) => wheel ?? []);
  if (wheels.length === 0) return 0;
  say(`Installing collected packages: ${wheels.map(({ name }) => name).join(', ')}`);
  await write(call, folder, wheels, installed);
  const commands = wheels.flatMap((wheel) => wheel.commands);
  if (commands.length > 0 && !has('q')) {
    call.warn(
      `WARNING: The commands ${commands.join(', ')} are not installed: use python3 -m, where the package has it.\n`,
    );
  }
  say(`Successfully installed ${wheels.map(({ name, version }) => `${name}-${version}`).join(' ')}`);
  return 0;
}

const planned = (wheel: Wheel): Planned => {
  return { name: normalName(wheel.name), version: wheel.version, requires: wheel.requires, wheel };
};

/** Puts wheels in the place of what is there. What fails leaves what was there before. */
async function write(
  call: CommandCall,
  folder: string,
  wheels: readonly Wheel[],
  installed: ReadonlyMap<string, Installed>,
) {
  const needed = wheels.reduce(
    (sum, { files }) => sum + [...files.values()].reduce((all, { length }) => all + length, 0),
    0,
  );
  const { free } = call.room();
  if (needed > free)
    throw new WheelError(`no space left: ${sizeOf(needed)} are to be written, and ${sizeOf(free)} are free`);
  const files = wheels.flatMap((wheel) =>
    [...wheel.files].map(([path, bytes]) => [`${folder}/${path}`, bytes] as const),
  );
  const staged = await StagedFiles.write(call, `${folder}/.pip-staging`, new Map(files)).catch((error: unknown) => {
    if (error instanceof CommandEnd) throw error;
    throw new WheelError(`Could not install packages: ${reasonOf(error)}`);
  });
  const blocked = staged.blocked();
  if (blocked !== null) {
    await staged.drop();
    throw new WheelError(`Could not install packages: ${blocked} is in the way`);
  }
  for (const { name } of wheels) {
    const before = installed.get(normalName(name));
    if (before !== undefined) await uninstall(call, folder, before);
  }
  await staged.place();
}

async function readText(call: CommandCall, path: string): Promise<string> {
  try {
    return (await call.input(path)).toString();
  } catch (error) {
    throw new RequirementError(`Could not open requirements file: ${path}: ${reasonOf(error)}`);
  }
}

async function localWheel(call: CommandCall, operand: string): Promise<Wheel> {
  const file = operand.slice(operand.lastIndexOf('/') + 1);
  if (wheelName(file) === null) throw new WheelError(`${file} is not a supported wheel on this platform.`);
  let bytes: Buffer;
  try {
    bytes = await call.input(operand);
  } catch (error) {
    throw new WheelError(`${operand}: ${reasonOf(error)}`);
  }
  return readWheel(bytes, file);
}

async function remove(call: CommandCall): Promise<number> {
  const { options, operands } = call.options({ letters: 'yr:', long: { yes: 'y', 'requirement=': 'r' } });
  const names = operands.map(normalName);
  for (const { key, value } of options) {
    if (key !== 'r' || value === null) continue;
    const include = async (path: string) => ({ text: await readText(call, path), by: path });
    const { wanted } = await requirementsOfFile(await readText(call, value), value, include);
    names.push(...wanted.map(({ name }) => name));
  }
  if (names.length === 0) call.usage('You must give at least one package to uninstall');
  const installed = await installedIn(call, SITE_PACKAGES);
  for (const name of names) {
    const found = installed.get(name);
    if (found === undefined) call.warn(`WARNING: Skipping ${name} as it is not installed.\n`);
    else {
      await uninstall(call, SITE_PACKAGES, found);
      call.print(`Successfully uninstalled ${found.title}-${found.version}\n`);
    }
  }
  return 0;
}

async function tell(call: CommandCall, verb: 'list' | 'freeze' | 'show'): Promise<number> {
  const { options, operands } = call.options({
    letters: 't:',
    long: { 'path=': 't', 'format=': 'format', all: 'none', user: 'none', 'disable-pip-version-check': 'none' },
  });
  const path = options.find(({ key }) => key === 't')?.value;
  const folder = path == null ? SITE_PACKAGES : call.path(path).replace(/\/$/, '');
  const format = options.find(({ key }) => key === 'format')?.value ?? (verb === 'freeze' ? 'freeze' : 'columns');
  const installed = await installedIn(call, folder);
  if (verb === 'show') return show(call, folder, installed, operands);
  const all = [...installed.values()];
  if (format === 'json') call.print(`${JSON.stringify(all.map(({ title, version }) => ({ name: title, version })))}\n`);
  else if (format === 'freeze') call.print(all.map(({ title, version }) => `${title}==${version}\n`).join(''));
  else if (all.length > 0) {
    const width = Math.max(7, ...all.map(({ title }) => title.length));
    const versions = Math.max(7, ...all.map(({ version }) => version.length));
    const row = (left: string, right: string) => `${left.padEnd(width)} ${right}\n`;
    call.print(row('Package', 'Version') + row('-'.repeat(width), '-'.repeat(versions)));
    call.print(all.map(({ title, version }) => row(title, version)).join(''));
  }
  return 0;
}

function show(
  call: CommandCall,
  folder: string,
  installed: ReadonlyMap<string, Installed>,
  names: readonly string[],
): number {
  let exitCode = 0;
  for (const name of names) {
    const found = installed.get(normalName(name));
    if (found === undefined) {
      call.warn(`WARNING: Package(s) not found: ${name}\n`);
      exitCode = 1;
      continue;
    }
    const requires = found.requires.flatMap((line) => parseRequirement(line)?.name ?? []);
    call.print(`Name: ${found.title}\nVersion: ${found.version}\nSummary: ${found.summary}\nLocation: ${folder}\n`);
    call.print(`Requires: ${[...new Set(requires)].join(', ')}\n`);
  }
  return exitCode;
}

function sizeOf(bytes: number): string {
  return bytes < 1e6 ? `${Math.ceil(bytes / 1000)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}
