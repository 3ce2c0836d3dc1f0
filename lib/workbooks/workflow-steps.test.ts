import { expect, test } from 'vitest';
import type { PlanComponent, PlanWorld } from './types.ts';
import { stepsOfWorld } from './workflow-steps.ts';

const ports = (names: string[]) => names.map((name) => ({ name, type: 'any', optional: false }));

function component(path: string, deps: string[], inputs: string[], outputs: string[]): PlanComponent {
  const name = path.split('/').at(-1) ?? '';
  const rest = { uses: [], persist: false, src: '', schedule: null, line: 1 };
  return { name, path, lang: 'js', deps, in: ports(inputs), out: ports(outputs), ...rest };
}

function world(path: string, parts: Partial<PlanWorld>): PlanWorld {
  const name = path.split('/').at(-1) ?? '';
  const none = {
    schedule: null,
    imports: [],
    exports: [],
    components: [],
    edges: [],
    workflows: [],
    deps: [],
    line: 1,
  };
  return { name, path, ...none, ...parts };
}

test('steps come after what they depend on, with each input from where it is made', () => {
  const plan = world('w', {
    imports: ports(['seed']),
    exports: ports(['page']),
    components: [
      component('w/show', ['nested', 'read'], ['total', 'rows'], ['page']),
      component('w/read', [], ['seed'], ['rows']),
    ],
    workflows: [
      world('w/nested', {
        deps: ['read'],
        imports: ports(['rows', 'seed']),
        exports: ports(['total']),
        components: [component('w/nested/sum', [], ['rows', 'seed'], ['total'])],
      }),
    ],
  });
  const { steps, outputs } = stepsOfWorld(plan);
  expect(steps.map(({ component: { path }, after, inputs }) => [path, after, inputs])).toEqual([
    ['w/read', [], [{ name: 'seed', from: { input: 'seed' } }]],
    [
      'w/nested/sum',
      [0],
      [
        { name: 'rows', from: { step: 0, output: 'rows' } },
        { name: 'seed', from: { input: 'seed' } },
      ],
    ],
    [
      'w/show',
      [1, 0],
      [
        { name: 'total', from: { step: 1, output: 'total' } },
        { name: 'rows', from: { step: 0, output: 'rows' } },
      ],
    ],
  ]);
  expect(outputs).toEqual([{ name: 'page', from: { step: 2, output: 'page' } }]);
});
