import { expect, test } from 'vitest';
import { orgHtml } from './org-html.ts';

const html = (source: string) => [...orgHtml(source)].join('');
const block = (lang: string, body: string) => `* part :component:\n#+begin_src ${lang}\n${body}\n#+end_src\n`;

test('code is shown, and a WebAssembly module is folded away, whole', () => {
  expect(html(block('js', 'export default 1 < 2;'))).toContain('<pre dir="auto">export default 1 &lt; 2;\n</pre>');
  const module = html(block('wasm', 'AGFzbQEAAAA='));
  expect(module).toContain('<details><summary>A WebAssembly module in base64, 13 characters</summary>');
  expect(module).toContain('<pre dir="auto">AGFzbQEAAAA=\n</pre>');
});

test('a heading with a text that is too long to be parsed is folded below its first line, whole and as text', () => {
  const long = `${'AGFz<b>m'.repeat(10_000)}`;
  const page = html(block('wasm', long));
  expect(page).toContain('<details><summary>* part :component:</summary>');
  expect(page).toContain(long.replaceAll('<', '&lt;').replaceAll('>', '&gt;'));
  expect(page).not.toContain('<b>');
});
