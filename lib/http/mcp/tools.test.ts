import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { cutInMiddle, fitting } from './tool.ts';
import { MCP_TOOLS, toolsFor } from './tools.ts';

test('every tool has a name of its own that hosts take, words, hints, and a schema that refuses what it does not know', () => {
  const listed = toolsFor({ role: 'admin', tenants: null });
  expect(listed.map(({ name }) => name)).toEqual(MCP_TOOLS.map(({ name }) => name));
  expect(new Set(listed.map(({ name }) => name)).size).toBe(listed.length);
  for (const { name, title, description, inputSchema, annotations } of listed) {
    // Hosts put their own name for a server before it, and take 64 characters in all.
    expect(name).toMatch(/^winterdock_[a-z_]{3,24}$/);
    expect([name, title.length > 3, description.length > 20, description.length < 700]).toEqual([
      name,
      true,
      true,
      true,
    ]);
    expect([name, inputSchema.type, inputSchema.additionalProperties]).toEqual([name, 'object', false]);
    const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = annotations;
    expect([name, openWorldHint]).toEqual([name, expect.any(Boolean)]);
    const rest = readOnlyHint ? undefined : expect.any(Boolean);
    expect([name, destructiveHint, idempotentHint]).toEqual([name, rest, rest]);
  }
});

test('every input of a tool says in words of its own what it is, and names no setting of the server', () => {
  for (const { name, inputSchema } of toolsFor({ role: 'admin', tenants: null })) {
    for (const [input, { description = '' }] of Object.entries(inputSchema.properties ?? {})) {
      expect([name, input, description.length > 15, description.length < 200]).toEqual([name, input, true, true]);
      expect(description).not.toMatch(/WB_|max_run_s|drain/);
    }
  }
});

test('a tool that only reads is offered to whom nothing else is', () => {
  const viewer = toolsFor({ role: 'viewer', tenants: null });
  expect(viewer.length).toBeGreaterThan(2);
  expect(viewer.filter(({ annotations }) => !annotations.readOnlyHint)).toEqual([]);
  const support = toolsFor({ role: 'support', tenants: null });
  expect(support.filter(({ annotations }) => !annotations.readOnlyHint)).toEqual([]);
  expect(support.map(({ name }) => name)).toContain('winterdock_read_file');
});

test('what a host is told of a tool fits into a few thousand words', () => {
  const all = JSON.stringify(toolsFor({ role: 'admin', tenants: null }));
  expect(all.length).toBeLessThan(25_400);
  for (const { input } of MCP_TOOLS) expect(() => z.toJSONSchema(input, { io: 'input' })).not.toThrow();
});

test('a text is cut in its middle and between characters', () => {
  expect(cutInMiddle('short')).toEqual({ text: 'short', cut: 0 });
  for (const most of [10, 11, 12, 13]) {
    const { text, cut } = cutInMiddle('🧊'.repeat(50), most);
    expect([most, text.isWellFormed()]).toEqual([most, true]);
    expect(text.replace(/\n.*\n/, '').length + cut).toBe(100);
    expect(text).toMatch(/^🧊+\n\[… \d+ characters are cut here …\]\n🧊+$/u);
  }
});

test('a list is cut after what fits', () => {
  expect(fitting(['a', 'b'])).toEqual({ items: ['a', 'b'], cut: 0 });
  expect(fitting(['aaaa', 'bbbb', 'cccc'], 15)).toEqual({ items: ['aaaa', 'bbbb'], cut: 1 });
});

test('docs/agents.md names every tool, and no other', () => {
  const text = readFileSync(join(import.meta.dirname, '../../../docs/agents.md'), 'utf8');
  const named = new Set(text.match(/\bwinterdock_[a-z_]+/g));
  expect([...named].toSorted()).toEqual(MCP_TOOLS.map(({ name }) => name).toSorted());
});
