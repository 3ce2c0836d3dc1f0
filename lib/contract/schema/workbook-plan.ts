/** Contract schemas of a workbook's plan, and of what is wrong with its source. Safe for the browser. */
import { z } from 'zod';
import {
  COMPONENT_CAPABILITIES,
  PLAN_PROBLEMS,
  UPGRADE_CHANGES,
  WORKBOOK_LANGUAGES,
  type WorkbookPlan,
} from '../../workbooks/types.ts';

export {
  COMPONENT_CAPABILITIES,
  type ComponentCapability,
  type ComponentPort,
  type PlanComponent,
  type PlanEdge,
  type PlanProblem,
  type PlanSchedule,
  type PlanWorld,
  type UpgradeChange,
  WORKBOOK_LANGUAGES,
  type WorkbookLanguage,
  type WorkbookPlan,
} from '../../workbooks/types.ts';

export const componentPortSchema = z
  .object({
    name: z.string(),
    /** `string number integer boolean object array any bytes`, with `[]` behind it for an array of it. */
    type: z.string(),
    optional: z.boolean(),
  })
  .meta({ id: 'ComponentPort' });

export const planScheduleSchema = z.object({
  cron: z.string().nullable(),
  timezone: z.string().nullable(),
  at: z.int().nullable().optional(),
  repeat: z.string().nullable().optional(),
});

export const planComponentSchema = z
  .object({
    name: z.string(),
    path: z.string(),
    lang: z.enum(WORKBOOK_LANGUAGES),
    deps: z.array(z.string()),
    uses: z.array(z.enum(COMPONENT_CAPABILITIES)),
    in: z.array(componentPortSchema),
    out: z.array(componentPortSchema),
    persist: z.boolean(),
    persist_memory: z.boolean().optional().meta({
      description: 'The whole memory of a WebAssembly module is what is kept (`:persist memory`).',
    }),
    src: z.string(),
    file: z.string().optional(),
    schedule: planScheduleSchema.nullable(),
    line: z.int(),
  })
  .meta({ id: 'PlanComponent' });

export const planWorldSchema = z
  .object({
    name: z.string(),
    path: z.string(),
    schedule: planScheduleSchema.nullable(),
    imports: z.array(componentPortSchema),
    exports: z.array(componentPortSchema),
    components: z.array(planComponentSchema),
    edges: z.array(z.object({ from: z.string(), to: z.string(), name: z.string().optional() })),
    get workflows(): z.ZodArray<typeof planWorldSchema> {
      return z.array(planWorldSchema);
    },
    deps: z.array(z.string()),
    line: z.int(),
  })
  .meta({ id: 'PlanWorld' });

export const workbookPlanSchema = z
  .object({ worlds: z.array(planWorldSchema) })
  .meta({ id: 'WorkbookPlan' }) satisfies z.ZodType<WorkbookPlan>;

export const planProblemSchema = z
  .object({
    code: z.enum(PLAN_PROBLEMS),
    message: z.string(),
    /** What would mend it, a sentence. */
    mend: z.string(),
    line: z.int(),
    column: z.int(),
    name: z.string().optional(),
  })
  .meta({ id: 'PlanProblem' });

export const planAnswerSchema = z
  .object({
    /** Null for a source that is not stored. */
    workbook: z.string().nullable(),
    version: z.int().nullable(),
    /** `sha256:` and the lower-case hex of the source's bytes. */
    hash: z.string(),
    title: z.string().nullable(),
    /** Null when there are problems. */
    plan: workbookPlanSchema.nullable(),
    problems: z.array(planProblemSchema),
    /** Paths of the components with `:persist`, own before nested. */
    durable: z.array(z.string()),
    components: z.int().min(0),
  })
  .meta({ id: 'PlanAnswer' });
export type PlanAnswer = z.infer<typeof planAnswerSchema>;

export const upgradeChangeSchema = z.object({
  kind: z.enum(UPGRADE_CHANGES),
  component: z.string(),
  message: z.string(),
  breaking: z.boolean(),
});

export const upgradeAnswerSchema = z
  .object({ from: z.int(), to: z.int(), breaking: z.boolean(), changes: z.array(upgradeChangeSchema) })
  .meta({ id: 'UpgradeAnswer' });
export type UpgradeAnswer = z.infer<typeof upgradeAnswerSchema>;
