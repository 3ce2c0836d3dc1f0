/**
 * Tests wait for effects, not for the clock: a machine may be thirty times as busy as the one that a test was written
 * on. What waits for an effect waits a minute or more, which costs nothing where the effect comes; and no test says
 * that something was quick by the clock, but by processor time, by the order of events, or not at all.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAst } from 'rolldown/parseAst';
import { expect, test } from 'vitest';
import { ROOT } from './build.ts';

/** Milliseconds that a wait for an effect has at least. */
const LEAST_MS = 60_000;
/** Milliseconds that a test may take where it says nothing; it may ask for more, never for less. */
const SUITE_MS = 600_000;

/** What stays, with the reason. The words are a part of the line. */
const ALLOWED: readonly { file: string; line: string; reason: string }[] = [
  {
    file: 'e2e/cheap-requests.test.ts',
    line: '3 * p99(base)',
    reason: 'a ratio of times that were taken in turn, in one run: what else the machine does is beside both',
  },
  {
    file: 'lib/vfs/copy.test.ts',
    line: 'Math.min(...parts)',
    reason: 'a part of a time in itself, the best of three tries',
  },
  {
    file: 'lib/workers/compile-cache.test.ts',
    line: "pause(1000, 'it waits')",
    reason: 'what must not happen meanwhile: a busy machine makes it pass',
  },
  {
    file: 'lib/workers/liveness-gate.test.ts',
    line: 'AbortSignal.timeout(10)',
    reason: 'the caller who goes away is what is tried',
  },
  {
    file: 'lib/http/tests/extremes.test.ts',
    line: 'const timer = setTimeout(',
    reason: 'how long a request is measured: one that takes longer has not failed',
  },
];

interface Node {
  type: string;
  start: number;
  [key: string]: unknown;
}

const isNode = (value: unknown): value is Node => typeof (value as Node | null)?.type === 'string';

function childrenOf(node: Node): Node[] {
  return Object.values(node)
    .flatMap((value) => (Array.isArray(value) ? value : [value]))
    .filter(isNode);
}

function allIn(node: Node): Node[] {
  const all = [node];
  for (const each of all) all.push(...childrenOf(each));
  return all;
}

/** The name of an identifier, or of the property that a member expression ends with. */
function nameOf(node: unknown): string {
  if (!isNode(node)) return '';
  if (node.type === 'Identifier') return node.name as string;
  if (node.type === 'MemberExpression') return nameOf(node.property);
  return node.type === 'CallExpression' ? nameOf(node.callee) : '';
}

const argumentsOf = (node: Node) => (node.arguments as Node[] | undefined) ?? [];

/** Calls that wait for an effect and take their deadline as an option `timeout`. */
const WAITS =
  /^(waitFor\w*|waitUntil|poll|toPass|to(Be|Have|Contain|Match)\w*|click|dblclick|fill|press|check|hover|goto|spawnSync|execFileSync|execSync|test|it|describe|each)$/;
/** Of them, those that wait a second where nothing is said. */
const SHORT_BY_THEMSELVES = /^(waitFor|waitUntil)$/;
const UPPER = /^(toBeLessThan|toBeLessThanOrEqual|toBeCloseTo)$/;
const LOWER = /^(toBeGreaterThan|toBeGreaterThanOrEqual)$/;

interface Finding {
  file: string;
  line: string;
  what: string;
}

/** Words without which a file has nothing to find. */
const WORDS = /waitFor|waitUntil|poll\(|[tT]imeout|\.now\(\)|setTimeout|\brace\(|, \d[\d_]*\)/;

function findingsIn(file: string, text: string): Finding[] {
  if (!WORDS.test(text)) return [];
  const program = parseAst(text, { lang: 'ts' }) as unknown as Node;
  const nodes = allIn(program);
  const numbers = new Map<string, number>();
  const numberOf = (node: unknown): number | null => {
    if (!isNode(node)) return null;
    if (node.type === 'Literal') return typeof node.value === 'number' ? node.value : null;
    if (node.type === 'Identifier') return numbers.get(node.name as string) ?? null;
    if (node.type !== 'BinaryExpression') return null;
    const [left, right] = [numberOf(node.left), numberOf(node.right)];
    if (left === null || right === null) return null;
    const results: Record<string, number> = {
      '*': left * right,
      '+': left + right,
      '/': left / right,
      '-': left - right,
    };
    return results[node.operator as string] ?? null;
  };
  for (const node of nodes) {
    const value = node.type === 'VariableDeclarator' ? numberOf(node.init) : null;
    if (value !== null) numbers.set(nameOf(node.id), value);
  }
  const isShort = (node: unknown) => {
    const value = numberOf(node);
    return value !== null && value < LEAST_MS;
  };
  const isBelow = (node: unknown) => {
    const value = numberOf(node);
    return value !== null && value < SUITE_MS;
  };
  /** `test(…)`, `test.each(…)(…)` and the like: their names are looked for where the chain of calls begins. */
  const isTest = (node: Node): boolean => {
    let callee = node.callee as Node;
    while (callee.type === 'CallExpression' || callee.type === 'MemberExpression')
      callee = (callee.type === 'CallExpression' ? callee.callee : callee.object) as Node;
    return /^(test|it|describe|(before|after)(All|Each))$/.test(nameOf(callee));
  };
  const isNow = (node: unknown) =>
    isNode(node) &&
    node.type === 'CallExpression' &&
    /^(Date|performance)\.now$/.test(text.slice((node.callee as Node).start, (node.callee as Node).end as number));
  const isDifference = (node: Node) => node.type === 'BinaryExpression' && node.operator === '-' && isNow(node.left);
  const isFaked = /\bvi\.useFakeTimers\b/.test(text);
  // Names that hold a time that went by, or give one.
  const wall = new Set<string>();
  const isWall = (node: unknown): boolean =>
    isNode(node) &&
    allIn(node).some((each) => isDifference(each) || (each.type === 'Identifier' && wall.has(each.name as string)));
  const give = (node: Node): [string, unknown] | null => {
    if (node.type === 'VariableDeclarator' && isNode(node.id) && node.id.type === 'Identifier') {
      const init = node.init as Node | null;
      const isFunction = init !== null && /Function/.test(init.type);
      return [nameOf(node.id), isFunction ? returned(init) : init];
    }
    if (node.type === 'Property') return [nameOf(node.key), node.value];
    if (node.type === 'AssignmentExpression') return [nameOf(node.left), node.right];
    if (node.type === 'FunctionDeclaration') return [nameOf(node.id), returned(node)];
    if (node.type === 'CallExpression' && nameOf(node.callee) === 'push' && isNode(node.callee))
      return [nameOf((node.callee as Node).object), argumentsOf(node)[0]];
    return null;
  };
  const returned = (node: Node): unknown =>
    isNode(node.body) && node.body.type !== 'BlockStatement'
      ? node.body
      : { type: 'Returned', start: 0, body: allIn(node).filter(({ type }) => type === 'ReturnStatement') };
  const times = /\.now\(\)/.test(text) ? nodes : [];
  for (let before = -1; before !== wall.size; ) {
    before = wall.size;
    for (const node of times) {
      const [name, value] = give(node) ?? ['', null];
      if (name !== '' && isWall(value)) wall.add(name);
    }
  }

  const found: Finding[] = [];
  const note = (node: Node, what: string) => {
    const from = text.lastIndexOf('\n', node.start) + 1;
    const to = text.indexOf('\n', node.start);
    found.push({
      file,
      line: `${text.slice(0, node.start).split('\n').length}: ${text.slice(from, to < 0 ? undefined : to).trim()}`,
      what,
    });
  };
  // A step of a loop that goes on until it holds is no deadline.
  const steps = new Set(
    nodes
      .filter((node) => node.type === 'CallExpression' && nameOf(node.callee) === 'toPass')
      .flatMap((node) => allIn((node.callee as Node).object as Node)),
  );
  for (const node of nodes.filter((each) => !steps.has(each))) {
    if (node.type === 'CallExpression') {
      const name = nameOf(node.callee);
      const given = argumentsOf(node);
      const options = given.filter(({ type }) => type === 'ObjectExpression');
      const timeout = options
        .flatMap((each) => each.properties as Node[])
        .find((property) => nameOf(property.key) === 'timeout');
      if (WAITS.test(name) && timeout !== undefined && isShort(timeout.value))
        note(timeout, 'a deadline under a minute');
      else if (timeout !== undefined && isTest(node) && isBelow(timeout.value))
        note(timeout, 'less time than the suite gives a test');
      if (isTest(node) && given.slice(1).some(isBelow)) note(node, 'less time than the suite gives a test');
      const limits = name === 'setConfig' ? options.flatMap((each) => each.properties as Node[]) : [];
      if (limits.some((limit) => /^(test|hook)Timeout$/.test(nameOf(limit.key)) && isBelow(limit.value)))
        note(node, 'less time than the suite gives a test');
      const isVi = isNode(node.callee) && nameOf((node.callee as Node).object) === 'vi';
      const hasOptions = given.length > 1;
      if (isVi && SHORT_BY_THEMSELVES.test(name) && !hasOptions)
        note(node, 'a deadline of a second, as nothing else is said');
      if (isVi && SHORT_BY_THEMSELVES.test(name) && isShort(given[1])) note(node, 'a deadline under a minute');
      const callee = text.slice((node.callee as Node).start, (node.callee as Node).end as number);
      if (callee === 'AbortSignal.timeout' && isShort(given[0])) note(node, 'a deadline under a minute');
      if (name === 'setTimeout' && isShort(given[1]) && isNode(given[0])) {
        const refuses = allIn(given[0]).some(
          (each) =>
            each.type === 'ThrowStatement' ||
            (each.type === 'CallExpression' && /^(reject|fail)$/.test(nameOf(each.callee))),
        );
        const answers = allIn(given[0]).some(
          (each) => each.type === 'CallExpression' && nameOf(each.callee) === 'resolve' && argumentsOf(each).length > 0,
        );
        if (refuses || answers || /^(reject|fail)$/.test(nameOf(given[0]))) note(node, 'a deadline under a minute');
      }
      if (callee === 'Promise.race') {
        const pauses = allIn(node).filter(
          (each) =>
            each !== node &&
            each.type === 'CallExpression' &&
            /^(sleep|pause|setTimeout|delay)$/.test(nameOf(each.callee)),
        );
        for (const each of pauses) if (argumentsOf(each).some(isShort)) note(each, 'a race against less than a minute');
      }
      if ((UPPER.test(name) || LOWER.test(name)) && isNode(node.callee)) {
        const expected = allIn((node.callee as Node).object as Node).find(
          (each) => each.type === 'CallExpression' && nameOf(each.callee) === 'expect',
        );
        const compared = UPPER.test(name) ? expected && argumentsOf(expected)[0] : given[0];
        const isMinute = (numberOf(given[0]) ?? 0) >= LEAST_MS;
        if (isWall(compared) && !isMinute && !isFaked) note(node, 'a time by the clock, compared');
      }
    }
    if (node.type === 'BinaryExpression' && /^[<>]=?$/.test(node.operator as string)) {
      const sides = [node.left as Node, node.right as Node];
      const other = sides.find((side) => !isNow(side));
      if (sides.some(isNow) && other !== undefined) {
        const init = nodes.find(
          (each) => each.type === 'VariableDeclarator' && nameOf(each.id) === nameOf(other),
        )?.init;
        const sum = [other, init].find(
          (each) => isNode(each) && each.type === 'BinaryExpression' && each.operator === '+',
        ) as Node | undefined;
        if (sum !== undefined && isNow(sum.left) && isShort(sum.right)) note(node, 'a deadline under a minute');
      }
      if (sides.some((side) => isDifference(side)) && sides.some(isShort)) note(node, 'a time by the clock, compared');
    }
  }
  return found;
}

const FILES = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: ROOT,
  encoding: 'utf8',
})
  .split('\n')
  .filter((path) => /\.(test|spec)\.ts$|\/testing\/.*\.ts$|^e2e\/.*\.ts$/.test(path));

test('no test waits for an effect less than a minute, or compares times by the clock', () => {
  const found = FILES.flatMap((file) => findingsIn(file, readFileSync(join(ROOT, file), 'utf8')));
  const isAllowed = ({ file, line }: Finding) => ALLOWED.some((each) => each.file === file && line.includes(each.line));
  expect(
    ALLOWED.filter((each) => !found.some(({ file, line }) => file === each.file && line.includes(each.line))),
  ).toEqual([]);
  expect(found.filter((each) => !isAllowed(each)).map(({ file, line, what }) => `${file}:${line}  (${what})`)).toEqual(
    [],
  );
});

test('deadlines, races and comparisons are found in every form that tests have had', () => {
  const lines = [
    'await vi.waitFor(() => expect(a).toBe(1));',
    'await vi.waitFor(() => expect(a).toBe(1), 5000);',
    'await expect.poll(read, { timeout: 10_000, interval: 5 }).toBe(1);',
    'await expect(page).toHaveURL(x, { timeout: 2 * SECOND });',
    "test('a', () => {}, 30_000);",
    "test('a', { timeout: 120_000 }, () => {});",
    "test.each(steps)('a', { timeout: 240_000 }, () => {});",
    'beforeAll(() => {}, 60_000);',
    'vi.setConfig({ testTimeout: 120_000 });',
    'await fetch(x, { signal: AbortSignal.timeout(20_000) });',
    "setTimeout(() => reject(new Error('late')), 1000);",
    "setTimeout(() => resolve('late'), 1000);",
    'await Promise.race([over, pause(1000)]);',
    'expect(performance.now() - begun).toBeLessThan(2000);',
    'expect(took).toBeLessThan(2000);',
    'expect(best()).toBeCloseTo(3);',
    'expect(1).toBeGreaterThan(took);',
    'while (Date.now() < until) look();',
    'if (performance.now() - begun > 5000) throw late;',
  ];
  const before = `const SECOND = 1000;\nconst until = Date.now() + 5 * SECOND;\nconst took = Date.now() - a;
    const times = []; times.push(performance.now() - b);\nfunction best() { return Math.min(...times); }\n`;
  for (const line of lines) expect([line, findingsIn('a.test.ts', before + line).length]).toEqual([line, 1]);
  const fine = [
    'await vi.waitFor(() => expect(a).toBe(1), { timeout: 60_000 });',
    'await expect.poll(read).toBe(1);',
    "test('a', { timeout: 900_000 }, () => {});",
    'expect(took).toBeGreaterThan(300);',
    'expect(performance.now() - begun).toBeLessThan(60_000);',
    'await expect(async () => { await expect(page).toHaveURL(x, { timeout: 100 }); }).toPass();',
    "await call('POST', '/exec', { timeout: 500 });",
    'await pause(500);',
    'setTimeout(() => resolve(), 20);',
  ];
  for (const line of fine) expect([line, findingsIn('a.test.ts', before + line)]).toEqual([line, []]);
});
