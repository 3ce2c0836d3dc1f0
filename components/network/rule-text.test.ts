import { expect, test } from 'vitest';
import { rulesOfText, textOfRules } from './rule-text.ts';

test('a list is typed one entry a line, and reads back as it was typed', () => {
  const text = 'GET,POST https://api.example.com/v1/\nGET * \n\nhttps://lan.test/ private put';
  const { rules, wrong } = rulesOfText(text);
  expect([rules, wrong]).toEqual([
    [
      { url: 'https://api.example.com/v1/', methods: ['GET', 'POST'] },
      { url: '*', methods: ['GET'] },
      { url: 'https://lan.test/', methods: ['PUT'], private: true },
    ],
    null,
  ]);
  const full = rules.map((rule) => ({ methods: [], private: false, ...rule }));
  expect(rulesOfText(textOfRules(full)).rules).toEqual(rules);
});

test.each([
  'api.example.com',
  'GET',
  'GET POST https://a.test/',
  'https://a.test/ https://b.test/',
  'G3T https://a.test/',
])('%s is no entry, which names its line', (line) =>
  expect(rulesOfText(`\n${line}`).wrong).toMatch(/^Line 2 is no entry/),
);
