import { expect, test } from 'vitest';
import { profileOf } from '#lib/workers/protocol/policies.ts';
import { languagesOf, notOffered, policyChoices } from './policies.ts';

test.each(['posix', 'minimal', 'network', 'compute', 'native', 'never-heard-of'])(
  'the terminal offers the languages that the engine runs under "%s"',
  (policy) => {
    const { capabilities } = profileOf(policy);
    const languages = (['shell', 'js', 'python'] as const).filter((language) => capabilities.includes(language));
    expect(languagesOf(policy)).toEqual(languages);
  },
);

test('only implemented policies are offered, and a sandbox with another one gets a notice', () => {
  const choices = policyChoices({ native: { isOn: true } });
  expect(choices.map(({ name }) => name)).toEqual(['posix', 'minimal', 'compute', 'network', 'native']);
  expect(policyChoices({ native: { isOn: false } })).toEqual(choices.filter(({ name }) => name !== 'native'));
  for (const { name } of choices)
    expect(notOffered({ policy: name, workbook: null, workbook_version: null })).toEqual([]);
  expect(notOffered({ policy: 'former', workbook: null, workbook_version: null })).toEqual([
    'Its policy “former” is not known here. It keeps what that gives: its files, and no commands.',
  ]);
  expect(notOffered({ policy: 'compute', workbook: 'book', workbook_version: null })).toEqual([
    'Its workbook “book” is a name and no more: dock it to one of its tenant’s workbooks, or to none.',
  ]);
  expect(notOffered({ policy: 'posix', workbook: 'book', workbook_version: 2 })).toEqual([]);
  expect(notOffered({ policy: 'constructor', workbook: null, workbook_version: null })).toEqual([
    expect.stringContaining('its files, and no commands'),
  ]);
});
