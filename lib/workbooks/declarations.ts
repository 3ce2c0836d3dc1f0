/** What one heading declares: a component from its source block, a world from its properties; and its name. Pure. */
import { HEADER_KEYS, type HeaderArgument, headerArguments, isBabelKey, itemsOf } from './header-args.ts';
import { lackingState } from './kept-state.ts';
import { requireNoInputs, scheduleOf, schedulePlaceOf } from './plan-schedule.ts';
import { PORT_TYPE_WORDS, portOf } from './port-types.ts';
import { nearestTo, type PlanProblems, type SourcePlace } from './problems.ts';
import type { OrgSection, SectionProperty, SourceBlock } from './sections.ts';
import {
  COMPONENT_CAPABILITIES,
  type ComponentCapability,
  type ComponentPort,
  type PlanComponent,
  type PlanSchedule,
  WORKBOOK_LANGUAGES,
  type WorkbookLanguage,
} from './types.ts';

export interface PlacedName {
  name: string;
  place: SourcePlace;
}
export interface PlacedPort {
  port: ComponentPort;
  place: SourcePlace;
}

export interface DeclaredComponent {
  component: PlanComponent;
  place: SourcePlace;
  deps: PlacedName[];
  inputs: PlacedPort[];
  outputs: PlacedPort[];
}

export interface DeclaredWorld {
  name: string;
  place: SourcePlace;
  schedule: PlanSchedule | null;
  schedulePlace: SourcePlace | null;
  imports: PlacedPort[];
  /** Null: those that nothing in it takes. */
  exports: PlacedName[] | null;
  deps: PlacedName[];
}

const NAME = /^[a-z][a-z0-9_-]{0,62}$/;
const ALIASES: Readonly<Record<string, WorkbookLanguage>> = {
  javascript: 'js',
  typescript: 'ts',
  py: 'python',
  python3: 'python',
  bash: 'sh',
  shell: 'sh',
};
const MOST_ITEMS = 64;
const WASM_MAGIC = Buffer.from('\0asm', 'latin1');

/** The name that a heading gives. For one that cannot be a name a problem is reported, and a similar name is used. */
export function headingName(section: OrgSection, problems: PlanProblems): string {
  const { title, place } = section;
  if (NAME.test(title)) return title;
  const slug = title
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9_-]+/g, '-')
    .replace(/^[^a-z]+/, '')
    .slice(0, 63)
    .replace(/-+$/, '');
  const better = slug === '' ? 'step' : slug;
  problems.add(
    'name',
    { line: place.line, column: place.column },
    `“${shortened(title)}” cannot be a name: a name is a lower-case letter and up to 62 of a–z, 0–9, _ and -.`,
    `Call it ${better}.`,
    better,
  );
  return better;
}

/** Reads a component. Whatever is wrong with it is a problem, and the rest of it goes on. */
export function componentOf(
  section: OrgSection,
  name: string,
  path: string,
  problems: PlanProblems,
): DeclaredComponent {
  const { place } = section;
  const component: PlanComponent = {
    name,
    path,
    lang: 'js',
    deps: [],
    uses: [],
    in: [],
    out: [],
    persist: false,
    src: '',
    schedule: scheduleOf(section, name, problems),
    line: place.line,
  };
  const declared: DeclaredComponent = { component, place, deps: [], inputs: [], outputs: [] };
  const block = onlyBlock(section, name, problems);
  if (block === null) return declared;
  component.lang = languageOf(block, name, problems);
  component.src = block.value;
  for (const argument of headerArguments(block.parameters)) readArgument(declared, block, argument, problems);
  requireNoInputs(schedulePlaceOf(section), name, component.in, problems);
  checkBody(component, block, problems);
  const lacking = component.persist && !component.persist_memory ? lackingState(component.lang, component.src) : null;
  if (lacking !== null && component.src.trim() !== '') {
    const message = `“${name}” says :persist and ${lacking.lacks}.`;
    problems.add('component_body', block.place, message, lacking.mend, name);
  }
  return declared;
}

/** Reads what the properties of a world say. */
export function worldOf(section: OrgSection, name: string, problems: PlanProblems): DeclaredWorld {
  const names = (property: SectionProperty | undefined): PlacedName[] =>
    property === undefined ? [] : placedItems(property.value, property.place);
  const imports = section.properties.get('IMPORTS');
  const exports = section.properties.get('EXPORTS');
  return {
    name,
    place: section.place,
    schedule: scheduleOf(section, name, problems),
    schedulePlace: schedulePlaceOf(section),
    imports: imports === undefined ? [] : readPorts(imports.value, imports.place, name, problems),
    exports:
      exports === undefined ? null : names(exports).map((one) => ({ ...one, name: one.name.split(':')[0] ?? '' })),
    deps: names(section.properties.get('DEPS')),
  };
}

function onlyBlock(section: OrgSection, name: string, problems: PlanProblems): SourceBlock | null {
  const [block, second] = section.blocks;
  const add = (place: SourcePlace, message: string, mend: string) =>
    problems.add('component_body', place, message, mend, name);
  if (section.unended !== null) {
    const mend = 'Add #+end_src; a line of code that begins with * or #+ is written with a comma before it.';
    problems.add('syntax', section.unended, 'A #+begin_src has no #+end_src before the next heading.', mend, name);
    return null;
  }
  if (block === undefined) {
    add(section.place, `The component “${name}” has no source block.`, 'Add #+begin_src js … #+end_src below it.');
    return null;
  }
  if (second !== undefined)
    add(
      second.place,
      `The component “${name}” has more than one source block.`,
      'Give it one; make the other an example block.',
    );
  return block;
}

function languageOf({ language, place }: SourceBlock, name: string, problems: PlanProblems): WorkbookLanguage {
  const known = WORKBOOK_LANGUAGES as readonly string[];
  const given = language?.toLowerCase() ?? '';
  if (known.includes(given)) return given as WorkbookLanguage;
  const alias = Object.hasOwn(ALIASES, given) ? ALIASES[given] : undefined;
  if (alias !== undefined) return alias;
  problems.add(
    'language',
    place,
    given === ''
      ? `The source block of “${name}” names no language.`
      : `“${shortened(language ?? '')}” is no language of components.`,
    `Write one of ${known.join(', ')} behind #+begin_src.`,
    name,
  );
  return 'js';
}

function readArgument(
  declared: DeclaredComponent,
  block: SourceBlock,
  argument: HeaderArgument,
  problems: PlanProblems,
) {
  const { component } = declared;
  const { key, value } = argument;
  const placeAt = (at: number): SourcePlace => ({
    line: block.parametersPlace.line,
    column: block.parametersPlace.column + at,
  });
  const items = () => placedItems(value, placeAt(argument.valueAt), MOST_ITEMS, (more) => tooMany(more));
  const tooMany = (place: SourcePlace) =>
    problems.add(
      'count',
      place,
      `“:${key}” has more than ${MOST_ITEMS} items.`,
      'Split the component.',
      component.name,
    );
  switch (key) {
    case 'deps':
      for (const dep of items()) {
        if (declared.deps.some(({ name }) => name === dep.name)) continue;
        declared.deps.push(dep);
        component.deps.push(dep.name);
      }
      return;
    case 'uses':
      for (const { name, place } of items()) addCapability(component, name, place, problems);
      return;
    case 'in':
    case 'out': {
      const ports = key === 'in' ? declared.inputs : declared.outputs;
      const read = readPorts(value, placeAt(argument.valueAt), component.name, problems, tooMany);
      for (const one of read) {
        const isTaken = ports.some(({ port }) => port.name === one.port.name);
        if (isTaken)
          problems.add(
            'duplicate',
            one.place,
            `“${component.name}” has “:${key} ${one.port.name}” twice.`,
            'Keep one.',
            component.name,
          );
        else if (ports.length >= MOST_ITEMS) tooMany(one.place);
        else ports.push(one);
      }
      component[key] = ports.map(({ port }) => port);
      return;
    }
    case 'persist':
      if (component.lang === 'sh' && !/^(nil|false|no)$/i.test(value))
        problems.add(
          'syntax',
          placeAt(argument.at),
          'A sh component has no memory that :persist could keep.',
          'Take it out, and keep what should last in a file, with :uses vfs.',
          component.name,
        );
      else if (/^(|t|true|yes)$/i.test(value)) component.persist = true;
      else if (/^memory$/i.test(value) && component.lang === 'wasm') {
        component.persist = true;
        component.persist_memory = true;
      } else if (!/^(nil|false|no)$/i.test(value))
        problems.add(
          'syntax',
          placeAt(argument.at),
          '“:persist” takes no value but “memory”, for the whole memory of a WebAssembly module.',
          'Write :persist alone.',
          component.name,
        );
      return;
    case 'file':
      component.file = value;
      return;
    default: {
      if (isBabelKey(key)) return;
      const near = nearestTo(key, HEADER_KEYS);
      problems.add(
        'syntax',
        placeAt(argument.at),
        `“:${shortened(key)}” is not known here.`,
        near === null ? `There are ${HEADER_KEYS.map((one) => `:${one}`).join(', ')}.` : `Did you mean :${near}?`,
        component.name,
      );
    }
  }
}

function addCapability(component: PlanComponent, name: string, place: SourcePlace, problems: PlanProblems): void {
  const known = COMPONENT_CAPABILITIES as readonly string[];
  if (known.includes(name)) {
    if (!component.uses.includes(name as ComponentCapability)) component.uses.push(name as ComponentCapability);
    return;
  }
  const near = nearestTo(name, known);
  const all = `There are ${known.join(', ')}.`;
  problems.add(
    'capability',
    place,
    `There is no capability “${shortened(name)}”.`,
    near === null ? all : `Did you mean ${near}? ${all}`,
    component.name,
  );
}

/** What the language asks of the body, as far as it can be seen without running it. */
function checkBody(component: PlanComponent, { place }: SourceBlock, problems: PlanProblems): void {
  const { lang, file, name } = component;
  const add = (message: string, mend: string) => problems.add('component_body', place, message, mend, name);
  if (file !== undefined) {
    if (lang !== 'wasm') add('“:file” is for wasm only.', 'Put the code between #+begin_src and #+end_src.');
    else if (!/^\/[^\0]{1,1000}$/.test(file) || file.split('/').includes('..'))
      add(`“${shortened(file)}” is no path in the workspace.`, 'Write it as :file /lib/module.wasm.');
    else if (component.src.trim() !== '') add(`“${name}” has both a body and “:file”.`, 'Keep one of them.');
    component.src = '';
    return;
  }
  if (component.src.trim() === '') {
    add(
      `The source block of “${name}” is empty.`,
      lang === 'wasm' ? 'Put the module in base64, or name it by :file.' : 'Write the code.',
    );
    return;
  }
  if (lang !== 'wasm') return;
  const text = component.src.replaceAll(/\s+/g, '');
  if (
    !/^[A-Za-z0-9+/]+={0,2}$/.test(text) ||
    !Buffer.from(text.slice(0, 8), 'base64').subarray(0, 4).equals(WASM_MAGIC)
  )
    add(`The body of “${name}” is no WebAssembly module in base64.`, 'Put what base64 prints of the .wasm file.');
  else component.src = text;
}

function readPorts(
  text: string,
  place: SourcePlace,
  owner: string,
  problems: PlanProblems,
  tooMany?: (place: SourcePlace) => void,
): PlacedPort[] {
  return placedItems(text, place, tooMany ? MOST_ITEMS : Number.POSITIVE_INFINITY, tooMany).flatMap((item) => {
    const port = portOf(item.name);
    if (port !== null) return [{ port, place: item.place }];
    problems.add(
      'type',
      item.place,
      `“${shortened(item.name)}” is not a name and a type.`,
      `Write name:type, or name?:type for one that may be missing. Types are ${PORT_TYPE_WORDS}.`,
      owner,
    );
    return [];
  });
}

function placedItems(
  value: string,
  place: SourcePlace,
  most = Number.POSITIVE_INFINITY,
  tooMany?: (place: SourcePlace) => void,
): PlacedName[] {
  const items = itemsOf({ value, valueAt: 0 }).map(({ text, at }) => ({
    name: text,
    place: { line: place.line, column: place.column + at },
  }));
  const beyond = items[most];
  if (beyond) tooMany?.(beyond.place);
  return items.slice(0, most);
}

/** For messages: a name as long as a book is cut. */
function shortened(text: string): string {
  return text.length <= 80 ? text : `${text.slice(0, 79)}…`;
}
