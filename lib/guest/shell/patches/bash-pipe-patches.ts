/**
 * Patches of just-bash's pipelines and loops: a writer whose reader has enough ends as by SIGPIPE, and what goes
 * through `tee` is sent at once. bash-patches.ts applies them; `$pipes` is pipes.ts, `$outlets` is outlets.ts, `$tees`
 * is tees.ts, `$live` is live-files.ts, `$turns` is thread-turns.ts.
 */

import { BROKEN_PIPE_EXIT } from '../pipes.ts';
import { type BashPatch, INTERPRETER_FILE } from './bash-patch.ts';

/** Before each round of a loop: whether its reader has enough, and whether others wait for the thread. */
const asked = (output: string) =>
  `if($turns.isTurnDue())await $turns.turn();if(e.state.pipe?.live===!1&&await e.state.pipe.roundEnded(${output}))throw new G(${BROKEN_PIPE_EXIT},"","");`;

export const PIPE_PATCHES: readonly BashPatch[] = [
  // Where a pipeline ends in `tee`, what the stage before prints is sent as it comes.
  {
    file: INTERPRETER_FILE,
    from: 'async function Sf(e,t,n){',
    to: 'function Sf(e,t,n){return t.commands.length>1&&e.state.pipe?.live&&$tees.isFollowed(e)?$sent(e,t,n):$pipeline(e,t,n,null)}async function $sent(e,t,n){let $end=await $tees.teesOf(e,t,e.state.pipe,{find:$name=>Xu(e,$name),bytesOf:xt,trust:$run=>Ce.runTrustedAsync($run)});try{return await $pipeline(e,t,n,$end)}finally{await $end?.close()}}async function $pipeline(e,t,n,$end){',
  },
  {
    file: INTERPRETER_FILE,
    from: 'a.push(N.exitCode),N.exitCode!==0&&(o=N.exitCode),S?i=N:(',
    to: 'if(S&&$end){let $rest=$end.rest(N);if($rest!==N){let $all=N.internalOutputAccounting??{stdout:0,stderr:0},$less=Math.max(0,$all.stdout-$rest.stdout.length);Oa(e.executionScope,$less,"pipeline"),N={...$rest,internalOutputAccounting:{...$all,stdout:$all.stdout-$less}}}}a.push(N.exitCode),N.exitCode!==0&&(o=N.exitCode),S?i=N:(',
  },
  {
    file: INTERPRETER_FILE,
    from: 'i={stdout:"",stderr:"",exitCode:N.exitCode})',
    to: '$end?.at===g&&(s=$end.input(s)),i={stdout:"",stderr:"",exitCode:N.exitCode})',
  },
  // Every stage but the last one writes to a pipe.
  {
    file: INTERPRETER_FILE,
    from: 'let r=t.timed?ei():0,s="",i=ne,o=0,a=[],',
    to: 'let $outer=e.state.pipe,$broken=!1,r=t.timed?ei():0,s="",i=ne,o=0,a=[],',
  },
  {
    file: INTERPRETER_FILE,
    from: 'try{e.state.commandCount=e.executionScope.chargeCommand(),N=await n(y,s)}',
    to: 'let $pipe=$end&&g>=$end.at?$end.outletAt(g,l):S?$outer:$pipes.pipeTo(e,t.commands,g,{bytesOf:xt,trust:$run=>Ce.runTrustedAsync($run)});e.state.pipe=$pipe;try{e.state.commandCount=e.executionScope.chargeCommand(),N=await n($end?$end.commandAt(g,y):y,s)}',
  },
  {
    file: INTERPRETER_FILE,
    from: 'finally{u&&(v&&(d=e.state.groupStdin,',
    to: 'finally{e.state.pipe=$outer,u&&(v&&(d=e.state.groupStdin,',
  },
  // A program that wrote more than was read ends as by SIGPIPE, and a stage that ends so says nothing.
  {
    file: INTERPRETER_FILE,
    from: ',!S){let $=t.pipeStderr?.[g]??!1,',
    to: `,!S){$broken=$pipe?.live===!1?await $pipe.wasBroken(y,N,$broken):!1,$broken&&(N={...N,exitCode:${BROKEN_PIPE_EXIT}}),N.exitCode===${BROKEN_PIPE_EXIT}&&N.stderr&&(N={...N,stderr:""});let $=t.pipeStderr?.[g]??!1,`,
  },
  // What is redirected elsewhere, or substituted, does not go to the pipe.
  {
    file: INTERPRETER_FILE,
    from: 'let s=jc(this.ctx),i;try{i=await this.executeCommandInner(t,n,r)}catch(a){throw await qi(this.ctx,s).catch(()=>{}),a}',
    to: 'let s=jc(this.ctx),i,$pipe=this.ctx.state.pipe;let $own=this.ctx.state.pipe=$live.liveFileOf($pipe,t,this.ctx.fs)??$outlets.behind($pipe,t);try{i=await this.executeCommandInner($outlets.commandFor(this.ctx.state,t),n,r)}catch(a){throw await qi(this.ctx,s).catch(()=>{}),a}finally{this.ctx.state.pipe=$pipe,$live.isLive($own)&&await $own.close()}',
  },
  // What is redirected to a file is there as it comes, in a call that nobody waits for.
  {
    file: INTERPRETER_FILE,
    from: 'prepare:(i="")=>kh(e,t,i,r)',
    to: 'prepare:(i="")=>$live.isLive(e.state.pipe)?$live.prepared(e.state.pipe,t,()=>kh(e,t,i,r)):kh(e,t,i,r)',
  },
  {
    file: INTERPRETER_FILE,
    from: 'async executeScript(t){',
    to: 'async executeScript(t){let $state=this.ctx.state,$pipe=$state.pipe;$state.pipe=$outlets.handedOn($state.givenPipe,t),$state.givenPipe=void 0,t=$outlets.scriptFor($state,t);try{return await this.$executeScript(t)}finally{$state.pipe=$pipe}}async $executeScript(t){',
  },
  {
    file: INTERPRETER_FILE,
    from: 'let l=Ge(i);return await e.executeScript(l)}',
    to: 'let l=Ge(i);e.state.givenPipe=e.state.pipe;return await e.executeScript(l)}',
  },
  {
    file: INTERPRETER_FILE,
    from: 'let c=Ge(i),u=await e.executeScript(c);return l(),u}',
    to: 'let c=Ge(i);e.state.givenPipe=e.state.pipe;let u=await e.executeScript(c);return l(),u}',
  },
  {
    file: INTERPRETER_FILE,
    from: 'env:h,arrays:u.replaceEnv?',
    to: 'givenPipe:u.pipe,env:h,arrays:u.replaceEnv?',
  },
  { file: INTERPRETER_FILE, from: 'm={fs:i.fs,fsIdentity:', to: 'm={pipe:i.state.pipe,fs:i.fs,fsIdentity:' },
  // What ended a script is said by the script, and is no output of the command that it was in.
  {
    file: INTERPRETER_FILE,
    from: 'async function go(e,t,n,r){let s=',
    to: 'async function go(e,t,n,r){let $said=t instanceof ze?$outlets.sentenceOf(t.stderr):"";$said&&(t.stderr=t.stderr.slice(0,-$said.length));let s=',
  },
  {
    file: INTERPRETER_FILE,
    from: 't.stdout=i.stdout,t.stderr=i.stderr,t.internalOutputAccounting=i.internalOutputAccounting??{stdout:B(i.stdout),stderr:B(i.stderr)}}async function nt(',
    to: 't.stdout=i.stdout,t.stderr=i.stderr+$said,t.internalOutputAccounting=i.internalOutputAccounting??{stdout:B(i.stdout),stderr:B(i.stderr)}}async function nt(',
  },
  // Loops.
  {
    file: INTERPRETER_FILE,
    from: 'if(c!==0)break;try{for(let p of t.body){',
    to: `if(c!==0)break;try{${asked('s')}for(let p of t.body){`,
  },
  {
    file: INTERPRETER_FILE,
    from: 'c.exitCode===0)break;try{for(let u of t.body){',
    to: `c.exitCode===0)break;try{${asked('s')}for(let u of t.body){`,
  },
  {
    file: INTERPRETER_FILE,
    from: 'e.state.env.set(t.variable,o);try{for(let a of t.body){let l=await e.executeStatement(a);n.append(',
    to: `e.state.env.set(t.variable,o);try{${asked('n')}for(let a of t.body){let l=await e.executeStatement(a);n.append(`,
  },
  {
    file: INTERPRETER_FILE,
    from: 'try{for(let o of t.body){let a=await e.executeStatement(o);r.append(',
    to: `try{${asked('r')}for(let o of t.body){let a=await e.executeStatement(o);r.append(`,
  },
];
