/** Checks a source for the editor: its problems, or its plan with positions. */
import { layoutPlan } from '#components/workbook/plan-layout.ts';
import type { SourceCheck } from '#components/workbook/workbook-editor.tsx';
import type { Caller } from '#lib/auth/caller.ts';
import type { PlanAnswer } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { textUpload } from '../form-upload.ts';

/** A larger source is shown and not edited here: a form carries no more. */
export const MOST_EDITED_BYTES = 900_000;

export function sourceCheckOf({ title, components, problems, plan }: PlanAnswer): SourceCheck {
  return { title, components, problems, drawing: plan === null ? null : layoutPlan(plan) };
}

/** Throws what the planner throws, for example for a source that is too large. */
export async function checkSource(caller: Caller, text: string): Promise<SourceCheck> {
  return sourceCheckOf(await getHost().operations.planSource(caller, textUpload(text, 'text/org')));
}
