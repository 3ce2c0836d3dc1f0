/** Components and calls for tests, without a workbook. */
import { createHash } from 'node:crypto';
import type { ComponentSpec, ComponentsRequest, StepResult } from '../../../workers/protocol/component-call.ts';
import type { InstanceProcess } from '../../../workers/protocol/instance.ts';

/** A component of the source in the language. */
export function componentOf(
  lang: ComponentSpec['lang'],
  src: string,
  more: Partial<ComponentSpec> = {},
): ComponentSpec {
  const spec: Omit<ComponentSpec, 'hash'> = {
    path: 'main/it',
    lang,
    src,
    uses: [],
    in: [],
    out: [],
    persist: 'no',
    ...more,
  };
  const hash = createHash('sha256')
    .update(JSON.stringify([spec.lang, spec.src, spec.file, spec.uses, spec.persist]))
    .digest('hex');
  return { ...spec, hash };
}

/** Calls one component. */
export async function callOne(
  process: InstanceProcess,
  component: ComponentSpec,
  input: unknown = {},
  more: Partial<ComponentsRequest> = {},
): Promise<{ value: unknown; result: StepResult; logs: string }> {
  const { steps, logs } = await process.callComponents({
    workbook: { id: 'test', version: 1 },
    steps: [{ component, after: [], inputs: null }],
    input: JSON.stringify(input),
    trigger: 'request',
    ...more,
  });
  const [result] = steps;
  if (result === undefined) throw new Error('There is no result.');
  const value: unknown = result.json === undefined ? undefined : JSON.parse(result.json);
  return { value, result, logs: logs.map(({ text }) => text).join('') };
}
