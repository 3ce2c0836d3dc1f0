'use server';
/** The server actions of what stands over a page: they read a sandbox for the palette and for a terminal. */
import type { SandboxChoice } from '#components/palette/items.ts';
import type { DrawerSandbox } from '#components/terminal/drawer.tsx';
import { isWinterdockError } from '#lib/base/errors.ts';
import { isInstanceId } from '#lib/base/ids.ts';
import { mayDo, roleRefusal, whyNot } from '#lib/contract/access.ts';
import { getHost } from '#lib/host/host.ts';
import { renderedAt, requireCaller } from './caller.ts';
import { expectTexts } from './form-values.ts';
import { whyNoCommands } from './sandboxes/[id]/command-refusal.ts';
import { moveOffers } from './sandboxes/[id]/move-offers.ts';
import { firstTab, TABS, tabAddress } from './sandboxes/[id]/tab-names.ts';
import { wakeNote, whyNoCopy, whyUnusable } from './sandboxes/[id]/use-refusals.ts';
import { languagesOf } from './sandboxes/policies.ts';

/** A sandbox and its moves, or null when there is none that the visitor may see, or it is deleted. */
export async function sandboxForPalette(id: string): Promise<SandboxChoice | null> {
  expectTexts(id);
  const caller = await requireCaller('/');
  if (!isInstanceId(id)) return null;
  try {
    const instance = await getHost().operations.getInstance(caller, id);
    if (instance.state === 'deleted') return null;
    const { name, tenant, state, fault, fault_reason, state_since, warm_since, pending, interrupted } = instance;
    const { keep_hot, hold_until, unreachable } = instance;
    const first = firstTab({}, mayDo(caller, 'volumes'));
    const held = hold_until !== null && hold_until > renderedAt();
    return {
      sandbox: {
        id,
        name,
        tenant,
        state,
        fault,
        fault_reason,
        state_since,
        warm_since,
        pending,
        interrupted,
        unreachable,
        keep_hot,
        held,
      },
      refusals: {
        change: whyNot(caller, 'patchInstance', { tenant }),
        snapshot: whyNoCopy(caller, 'takeSnapshot', instance),
        run: whyNot(caller, 'exec', { tenant }) ?? whyUnusable('command', instance),
      },
      parts: TABS.map(({ name, key }) => ({ name, href: tabAddress(id, key, first) })),
      offers: moveOffers(instance, caller),
    };
  } catch (error) {
    if (isWinterdockError(error) && (error.code === 'not_found' || error.code === 'gone')) return null;
    throw error;
  }
}

/** A sandbox as its terminal over a page needs it, or null when there is none that the visitor may see. */
export async function sandboxForTerminal(id: string): Promise<DrawerSandbox | null> {
  expectTexts(id);
  const caller = await requireCaller('/');
  if (!isInstanceId(id)) return null;
  try {
    const instance = await getHost().operations.getInstance(caller, id);
    if (instance.state === 'deleted') return null;
    const refusal = roleRefusal(caller, 'exec');
    return {
      name: instance.name,
      languages: languagesOf(instance.policy),
      blocked:
        refusal === null
          ? whyNoCommands(caller, instance)
          : `${refusal} Commands are for operators and admins: ask one of them.`,
      wakes: wakeNote('command', instance),
    };
  } catch (error) {
    if (isWinterdockError(error) && (error.code === 'not_found' || error.code === 'gone')) return null;
    throw error;
  }
}
