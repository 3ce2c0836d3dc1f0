import { expect, test } from 'vitest';
import { readSource } from './plan.ts';
import { checkUpgrade } from './upgrade.ts';

function planOf(...components: [name: string, args: string, body?: string][]) {
  const { plan, problems } = readSource(
    components
      .map(
        ([name, args, body = 'export const state = {};']) =>
          `* ${name} :component:\n#+begin_src js ${args}\n${body}\n#+end_src\n`,
      )
      .join(''),
  );
  if (plan === null) throw new Error(JSON.stringify(problems));
  return plan;
}

const changed = (before: Parameters<typeof planOf>, after: Parameters<typeof planOf>) =>
  checkUpgrade(planOf(...before), planOf(...after)).map(
    ({ kind, component, breaking }) => `${kind} ${component}${breaking ? ' breaks' : ''}`,
  );

test.each<[string, string, string, string[]]>([
  ['nothing', ':out x:number', ':out x:number', []],
  ['an output of another type', ':out x:number', ':out x:string', ['changed_output main/a breaks']],
  ['an output that is gone', ':out x:number y:number', ':out x:number', ['changed_output main/a breaks']],
  ['one output more', ':out x:number', ':out x:number y:any', ['changed_output main/a']],
  ['a new input', '', ':in x:number', ['changed_input main/a breaks']],
  ['a new input that may be missing', '', ':in x?:number', ['changed_input main/a']],
  ['an input that must be there now', ':in x?:number', ':in x:number', ['changed_input main/a breaks']],
  ['a capability more', ':uses log', ':uses log vfs', ['new_capability main/a breaks']],
  ['a capability less', ':uses log vfs', ':uses log', []],
  ['no state any more', ':persist', '', ['dropped_persist main/a breaks']],
  ['state from now on', '', ':persist', []],
])('an upgrade with %s is told', (_what, before, after, changes) => {
  expect(changed([['a', before]], [['a', after]])).toEqual(changes);
});

test('a component that is removed breaks, one that is added or has other code does not', () => {
  expect(
    changed(
      [
        ['a', ''],
        ['b', '', '2'],
      ],
      [
        ['b', '', '3'],
        ['c', ':uses fetch'],
      ],
    ),
  ).toEqual(['removed_component main/a breaks', 'changed_code main/b', 'added_component main/c']);
});
