// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the syntax of what is changed.
/**
 * Patches of just-bash: one input that several shells read, one after another, and `mapfile` with all of its options.
 * bash-patches.ts applies them behind those of bash-redirection-patches.ts; `$inputs` is endless-inputs.ts, `$arrays`
 * mapfile-options.ts.
 */
import { type BashPatch, INTERPRETER_FILE } from './bash-patch.ts';

const change = (from: string, to: string): BashPatch => ({ file: INTERPRETER_FILE, from, to });

const SHARED_PATCHES: readonly BashPatch[] = [
  // What a subshell has read is gone for what follows it.
  change(
    'l.set(p,Math.max(l.get(p)??0,d))}a();for(let[c,u]of l)tn(e,c,u)}}',
    'l.set(p,Math.max(l.get(p)??0,d))}let $left=s||n?void 0:e.state.groupStdin;a();$inputs.keepLeft(e.state,$left);for(let[c,u]of l)tn(e,c,u)}}',
  ),
  // So is what a shell has read that was called.
  change(
    'w=t;u.rawScript||(w=If(t));let b=this.defenseInDepthConfig?',
    'w=t;let $had=m.groupStdin,$taken=N=>$inputs.withTaken(N,$had,m.groupStdin);u.rawScript||(w=If(t));let b=this.defenseInDepthConfig?',
  ),
  change('return v&&(N.metadata=v),l(N)}', 'return v&&(N.metadata=v),l($taken(N))}'),
  change(
    'catch(y){if(y instanceof G)return l({stdout:y.stdout,stderr:y.stderr,exitCode:y.exitCode,internalOutputAccounting:y.internalOutputAccounting,env:Xe(this.state.env,u.env)});',
    'catch(y){if(y instanceof G)return l($taken({stdout:y.stdout,stderr:y.stderr,exitCode:y.exitCode,internalOutputAccounting:y.internalOutputAccounting,env:Xe(this.state.env,u.env)}));',
  ),
  change('if(p&&!r)$inputs.take(i.state,', 'if((p||A.stdinTaken!==void 0)&&!r)$inputs.take(i.state,'),
];

const MAPFILE_PATCHES: readonly BashPatch[] = [
  change(
    'function jo(e,t,n){let r=`\n`,s=0,i=0,o=0,a=!1,l="MAPFILE",c=0;for(',
    'function jo(e,t,n){let $options=$arrays.mapfileOptions(t);if($options.error!==void 0)return L("",$options.error,$options.exitCode);t=$options.args;let $from=$options.descriptor;if($from!==void 0){let $source=Cs(e,$from);if("error"in $source)return L("",`bash: mapfile: ${$from}: invalid file descriptor: Bad file descriptor\n`,1);n=$source.content;if(n==="")return L("","",0)}let r=`\n`,s=0,i=0,o=0,a=!1,l="MAPFILE",c=0;for(',
  ),
  change(
    'return e.state.groupStdin!==void 0&&!n&&(e.state.groupStdin=""),{...L("","",0),internalStdinConsumed:u.length}}',
    'let $end=s>0&&p>=s?d:u.length;return $from!==void 0?tn(e,$from,$end):e.state.groupStdin!==void 0&&!n&&(e.state.groupStdin=u.slice($end)),{...L("","",0),internalStdinConsumed:$end}}',
  ),
  change('if(s>0&&p>=s)break;if(f.length>=m)', 'if(f.length>=m)'),
  change(
    'for(;d<u.length;){e.executionScope.consumeWork(1,"mapfile input");',
    'for(;d<u.length&&!(s>0&&p>=s);){e.executionScope.consumeWork(1,"mapfile input");',
  ),
];

export const INPUT_PATCHES: readonly BashPatch[] = [...SHARED_PATCHES, ...MAPFILE_PATCHES];
