// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the syntax of what is changed.
/**
 * Patches of just-bash's shell language: `trap`, what `set -e` and `set -u` end, and expansions that bash does
 * otherwise. bash-patches.ts applies them; `$traps` is shell-traps.ts.
 */

import { NESTED_JOB } from '../../../workers/protocol/shell-jobs.ts';
import { type BashPatch, INTERPRETER_FILE, PRINTS_FIRST } from './bash-patch.ts';

/** The interpreter's parser, exit error and bytes of a result, for shell-traps.ts. */
const PARTS = '{parse:Ge,isExit:$e=>$e instanceof G,exit:$code=>new G($code,"",""),bytesOf:xt}';

/** A descriptor forgot the file that it was opened on: `/proc/$$/fd/3` is a link to it (descriptor-files.ts). */
const DESCRIPTOR_PATCHES: readonly BashPatch[] = [
  {
    file: INTERPRETER_FILE,
    from: 'function kt(e,t){',
    to: 'function kt(e,t){e.state.fdPaths?.delete(t);',
  },
  {
    file: INTERPRETER_FILE,
    from: 'function xs(e,t,n,r=!1){',
    to: 'function $named(e,t,n){n!==void 0&&(e.state.fdPaths??=new Map).set(t,n)}function xs(e,t,n,r=!1){e.state.fdPaths?.delete(t);',
  },
  {
    file: INTERPRETER_FILE,
    from: 'function lt(e,t,n){xs(e,t,co(n),n.kind==="input")}',
    to: 'function lt(e,t,n){xs(e,t,co(n),n.kind==="input"),$named(e,t,n.path)}',
  },
  {
    file: INTERPRETER_FILE,
    from: '(xs(e,t,r,e.state.inputFds?.has(n)===!0),uo(e,t,n),!0)',
    to: '(xs(e,t,r,e.state.inputFds?.has(n)===!0),$named(e,t,e.state.fdPaths?.get(n)),uo(e,t,n),!0)',
  },
  {
    file: INTERPRETER_FILE,
    from: 'kt(e,n),xs(e,t,r,s);',
    to: 'let $path=e.state.fdPaths?.get(n);kt(e,n),xs(e,t,r,s),$named(e,t,$path);',
  },
  {
    file: INTERPRETER_FILE,
    from: 't.set(n,{raw:Ps(e,n),',
    to: 't.set(n,{path:e.state.fdPaths?.get(n),raw:Ps(e,n),',
  },
  {
    file: INTERPRETER_FILE,
    from: 'for(let[r,{raw:s,isInput:i,aliases:o}]of t){if(s===void 0){kt(e,r);continue}xs(e,r,s,i);',
    to: 'for(let[r,{raw:s,isInput:i,aliases:o,path:$path}]of t){if(s===void 0){kt(e,r);continue}xs(e,r,s,i),$named(e,r,$path);',
  },
  {
    file: INTERPRETER_FILE,
    from: ':{entry:{kind:"input",content:s}}}catch',
    to: ':{entry:{kind:"input",content:s,path:r}}}catch',
  },
  {
    file: INTERPRETER_FILE,
    from: 'u=-1,m(S,{kind:"input",content:c})}catch',
    to: 'u=-1,m(S,{kind:"input",content:c,path:A})}catch',
  },
  {
    file: INTERPRETER_FILE,
    from: 'fileDescriptors:e.fileDescriptors,inputFds:e.inputFds,',
    to: 'fileDescriptors:e.fileDescriptors,fdPaths:e.fdPaths,inputFds:e.inputFds,',
  },
  {
    file: INTERPRETER_FILE,
    from: 'e.fileDescriptors=e.fileDescriptors?new Map(e.fileDescriptors):void 0,',
    to: 'e.fileDescriptors=e.fileDescriptors?new Map(e.fileDescriptors):void 0,e.fdPaths=e.fdPaths&&new Map(e.fdPaths),',
  },
  {
    file: INTERPRETER_FILE,
    from: 'g);v=A.target}',
    to: 'g);v=A.target.replace(/^\\/(?:dev|proc\\/self)\\/fd\\/([12])$/,($whole,$number)=>$number==="1"?"/dev/stdout":"/dev/stderr")}',
  },
];

export const SCRIPT_PATCHES: readonly BashPatch[] = [
  // `trap` and `umask` were names without a command.
  {
    file: INTERPRETER_FILE,
    from: 'if(t==="exit")return Fo(c,n);',
    to: 'if(t==="exit")return c.state.exits=!0,Fo(c,n);if(t==="trap")return $traps.trap(c,n);if(t==="umask")return $umask.umask(c,n);',
  },
  {
    file: INTERPRETER_FILE,
    from: 'N=await new kr(k,m).executeScript(S);',
    to: `$shell=new kr(k,m),$kept=u.onShell?.($shell.ctx.state),$version=["5","2","15","1","release","x86_64-pc-linux-gnu"].forEach(($part,$at)=>Z($shell.ctx,"BASH_VERSINFO",$at,$part,"indexed")),N=await(this.fs.during?.bind(this.fs)??(($state,$run)=>$run()))($shell.ctx.state,()=>$traps.withTraps($shell.ctx,${PARTS},()=>$shell.executeScript(S)));`,
  },
  {
    file: INTERPRETER_FILE,
    from: 'l=>Om(e,t,l.stdin??n,r,s||l.stdin!==void 0)',
    to: `l=>$traps.withTraps(e,${PARTS},()=>Om(e,t,l.stdin??n,r,s||l.stdin!==void 0))`,
  },
  {
    file: INTERPRETER_FILE,
    from: 'let p=await e.executeScript(t.body),h=p.exitCode;',
    to: `let p=await $apart(e,()=>$traps.withTraps(e,${PARTS},()=>e.executeScript(t.body))),h=p.exitCode;`,
  },
  {
    file: INTERPRETER_FILE,
    from: 'm=await e.executeCommand(t.body,p,h);return rn(',
    to: `m=await $traps.withReturnTrap(e,${PARTS},()=>e.executeCommand($outlets.bodyFor(e.state,t),p,h));return rn(`,
  },
  { file: INTERPRETER_FILE, from: '["errtrace",null]', to: '["errtrace","errtrace"]' },
  { file: INTERPRETER_FILE, from: '["E",null]', to: '["E","errtrace"]' },
  // `set -e` ended a function whose failure a list tests: `f || echo caught`. With the ERR action.
  {
    file: INTERPRETER_FILE,
    from: 'let r=0,s=-1,i=!1;try{for(let l=0;l<t.pipelines.length;l++){',
    to: 'let r=0,s=-1,i=!1,$ran=this.ctx.state.errorTraps??0;try{for(let l=0;l<t.pipelines.length;l++){',
  },
  {
    file: INTERPRETER_FILE,
    from: 'let f=await this.executePipeline(c);',
    to: 'let $tested=this.ctx.state.inCondition,f;if(l<t.pipelines.length-1||c.negated)this.ctx.state.inCondition=!0;try{f=await this.executePipeline(c)}finally{this.ctx.state.inCondition=$tested}',
  },
  {
    file: INTERPRETER_FILE,
    from: 'if(this.ctx.state.errexitSafe=o||i||a,this.ctx.state.options.errexit&&r!==0&&s===t.pipelines.length-1&&!i&&!this.ctx.state.inCondition&&!a){',
    to: `if(this.ctx.state.errexitSafe=o||i||a,r!==0&&s===t.pipelines.length-1&&!i&&!this.ctx.state.inCondition&&!a&&this.ctx.state.traps?.has("ERR")){let $action=await $traps.afterError(this.ctx,${PARTS},$ran,r);$action&&n.append("stdout",$action.stdout),$action&&n.append("stderr",$action.stderr)}if(this.ctx.state.options.errexit&&r!==0&&s===t.pipelines.length-1&&!i&&!this.ctx.state.inCondition&&!a){`,
  },
  // `set -u` ended a script at `"${name:-default}"`.
  {
    file: INTERPRETER_FILE,
    from: 'else{let l=r.parameter,c=await St(e,l),u=await ie(e,l),',
    to: 'else{let l=r.parameter,c=await St(e,l),u=await ie(e,l,!1),',
  },
  // An unset variable under `set -u`, or a failed `$((…))`, ended the group, function or loop around it alone.
  {
    file: INTERPRETER_FILE,
    from: 'if(f(),d instanceof x)throw o.prependTo(d),d;if(Or(d)||d instanceof We||d instanceof G)',
    to: 'if(f(),d instanceof x)throw o.prependTo(d),d;if(Or(d)||d instanceof We||d instanceof G||d instanceof Ve||d instanceof ce||d instanceof ze)',
  },
  {
    file: INTERPRETER_FILE,
    from: 'if(e instanceof Te||e instanceof We||e instanceof G||e instanceof x)return e.prependOutput(t,n),{action:"rethrow"',
    to: 'if(e instanceof Te||e instanceof We||e instanceof G||e instanceof Ve||e instanceof ce||e instanceof ze||e instanceof x)return e.prependOutput(t,n),{action:"rethrow"',
  },
  // What was broken off in one of them went on behind it, with an error of its own.
  {
    file: INTERPRETER_FILE,
    from: 'if(Or(s)||s instanceof We||s instanceof G||s instanceof x||s instanceof Mt)throw s.prependOutput',
    to: 'if(Or(s)||s instanceof We||s instanceof G||s instanceof x||s instanceof Mt||s instanceof ze)throw s.prependOutput',
  },
  {
    file: INTERPRETER_FILE,
    from: 'if(a instanceof x)throw i.prependTo(a),a;return a instanceof Mt||',
    to: 'if(a instanceof x||a instanceof ze)throw i.prependTo(a),a;return a instanceof Mt||',
  },
  // `$((1 / 0))` ended its statement alone: bash goes on at the next line.
  {
    file: INTERPRETER_FILE,
    from: 'if(i instanceof ce){r.append("stdout",i.stdout,i.internalOutputAccounting.stdout),r.append("stderr",i.stderr,i.internalOutputAccounting.stderr),n=1,this.ctx.state.lastExitCode=n,this.ctx.state.env.set("?",String(n));continue}',
    to: 'if(i instanceof ce){r.append("stdout",i.stdout,i.internalOutputAccounting.stdout),r.append("stderr",i.stderr,i.internalOutputAccounting.stderr),n=1,this.ctx.state.lastExitCode=n,this.ctx.state.env.set("?",String(n));$failed=this.ctx.state.currentLine;continue}',
  },
  {
    file: INTERPRETER_FILE,
    from: 'r=new Vt(this.ctx.executionScope,"script");for(let s of t.statements)try{',
    to: 'r=new Vt(this.ctx.executionScope,"script"),$failed=0;for(let s of t.statements)if($failed===0||s.line===void 0||s.line>$failed)try{',
  },
  {
    file: INTERPRETER_FILE,
    from: 'if($ instanceof Ke)N=',
    to: 'if($ instanceof Ke||$ instanceof ce&&u)N=',
  },
  // bash -c ends with 127 there, or with 1 under `set -e` and in a file, a subshell with 1; and its message has a
  // prefix. A subshell said it again where it had been sent, and dropped what a group in it had printed.
  {
    file: INTERPRETER_FILE,
    from: 'if(i instanceof Ve)return r.append("stdout",i.stdout,i.internalOutputAccounting.stdout),r.append("stderr",i.stderr,i.internalOutputAccounting.stderr),n=1,',
    to: 'if(i instanceof Ve)return r.append("stdout",i.stdout,i.internalOutputAccounting.stdout),r.append("stderr",i.stderr,i.internalOutputAccounting.stderr),n=this.ctx.state.options.errexit||this.ctx.state.currentSource!==void 0?1:127,',
  },
  {
    file: INTERPRETER_FILE,
    from: 'i.append("stderr",`${$t(a)}\n`),i.build(1))}return i.build(o)}async function vf(',
    to: 'a instanceof Ve||a instanceof ce?(i.append("stdout",a.stdout,a.internalOutputAccounting.stdout),i.append("stderr",a.stderr,a.internalOutputAccounting.stderr)):i.append("stderr",`bash: ${$t(a)}\n`),i.build(1))}return i.build(o)}async function vf(',
  },
  // `env -u HOME sh -c …` still saw HOME: a shell began with the variables of the sandbox, not with its caller's.
  {
    file: INTERPRETER_FILE,
    from: 'for(let[y,S]of Object.entries(u.env))h.set(y,S);',
    to: 'for(let[y,S]of Object.entries(u.env))h.set(y,S);if(u.exactEnv)for(let $name of this.state.exportedVars??[])$name==="PATH"||Object.hasOwn(u.env??{},$name)||h.delete($name);',
  },
  // What a caller gives as environment was no environment of the programs that a script starts.
  {
    file: INTERPRETER_FILE,
    from: 'h.set("PWD",d);let m={...this.state,env:h,',
    to: 'h.set("PWD",d);let m={...this.state,exportedVars:new Set([...u.replaceEnv?[]:this.state.exportedVars??[],...Object.keys(u.env??{})]),endlessInput:void 0,groupDevice:$inputs.partOf(u.endlessInput,u.stdin),env:h,',
  },
  // `*/` matched files too, and `*` no name with a newline and nothing behind a link to a directory.
  {
    file: INTERPRETER_FILE,
    from: 'return(await this.expandSegments(i,o,a)).sort()}',
    to: 'let $found=(await this.expandSegments(i,o,a)).sort();if(!t.endsWith("/"))return $found;let $folders=[];for(let $path of $found)(await this.fs.stat(this.fs.resolvePath(this.cwd,$path)).catch(()=>null))?.isDirectory&&$folders.push(`${$path}/`);return $folders}',
  },
  {
    file: INTERPRETER_FILE,
    from: 'return ge(`^${n}$`)}patternToRegexStr',
    to: 'return ge(`^${n}$`,"s")}patternToRegexStr',
  },
  {
    file: INTERPRETER_FILE,
    from: 'i.length===0?l.push(Promise.resolve([h])):d.isDirectory&&l.push(',
    to: 'i.length===0?l.push(Promise.resolve([h])):(d.isDirectory||d.isSymbolicLink)&&l.push(',
  },
  // `2>&1` put the errors of a program behind its output, which most hold back when it is no terminal.
  {
    file: INTERPRETER_FILE,
    from: 'for(let[A,C,N]of[[S,h,!0],[v,m,!1]])if(A!=="")',
    to: `for(let[A,C,N]of!n.errorsFirst&&(${PRINTS_FIRST}&&!t.errorsFirst||m.kind!=="live-stdout")?[[S,h,!0],[v,m,!1]]:[[v,m,!1],[S,h,!0]])if(A!=="")`,
  },
  ...DESCRIPTOR_PATCHES,
  // `eval` and `trap` parse without telling anybody: `&` in them ran in the foreground.
  {
    file: INTERPRETER_FILE,
    from: 'if(t.deferredError)throw new xe(t.deferredError.message,t.line??1,1);',
    to: `if(t.$before?.(),t.deferredError)throw new xe(t.deferredError.message,t.line??1,1);if(t.background)return{stdout:"",stderr:${JSON.stringify(NESTED_JOB)},exitCode:2};`,
  },
  // A signal waits for the end of the command that runs.
  {
    file: INTERPRETER_FILE,
    from: 'if(this.ctx.state.options.noexec)return ne;this.ctx.state.errexitSafe=!1;let n=',
    to: `if($traps.isSignalled())await $traps.actOnSignal(this.ctx,${PARTS});if(this.ctx.state.options.noexec)return ne;this.ctx.state.errexitSafe=!1;let n=`,
  },
  // `wait` did nothing. Ours waits for runs (commands/job-commands.ts).
  { file: INTERPRETER_FILE, from: 'if(t==="wait")return ne;', to: '' },
  // `${name:?words}` ended with 1 and did not say the name.
  {
    file: INTERPRETER_FILE,
    from: 'let o=n.word?await s(e,n.word.parts,r.inDoubleQuotes):`${t}: parameter null or not set`;throw new G(1,"",',
    to: 'let o=`${t}: ${n.word?await s(e,n.word.parts,r.inDoubleQuotes):"parameter null or not set"}`;throw new G(e.state.options.errexit||e.state.currentSource!==void 0?1:127,"",',
  },
  // `[ a -eq 1 ]` failed without a word.
  {
    file: INTERPRETER_FILE,
    from: 'return!o.valid||!a.valid?L("","",2):be(ys(s,o.val',
    to: 'return!o.valid||!a.valid?D(`bash: test: ${o.valid?i:r}: integer expression expected\n`,2):be(ys(s,o.val',
  },
  // `> file 2>&1`: in the order of `2>&1` alone.
  {
    file: INTERPRETER_FILE,
    from: 'if(h===m&&(h.kind==="file"||h.kind==="descriptor")){',
    to: 'if(o!=="bash"&&h.kind==="file"&&m.kind==="descriptor"&&m.source?.entry?.path===h.path&&(m=h),h===m&&(h.kind==="file"||h.kind==="descriptor")){',
  },
  // `a | | b`, `a && && b` and `a |` at the end ran what there was, and `$((` without an end was 0.
  {
    file: INTERPRETER_FILE,
    from: 'parsePipeline(){let t=!1,n=!1,r=0;',
    to: 'required($command){if($command.type==="SimpleCommand"&&$command.name===null&&$command.args.length+$command.assignments.length+$command.redirections.length===0)this.error(this.check(E.EOF)?"syntax error: unexpected end of file":`syntax error near unexpected token \\`${this.current().value}\'`);return $command}parsePipeline(){let t=!1,n=!1,r=0;',
  },
  {
    file: INTERPRETER_FILE,
    from: 'let c=this.parseCommand();i.push(c)}',
    to: 'let c=this.required(this.parseCommand());i.push(c)}',
  },
  {
    file: INTERPRETER_FILE,
    from: 'let c=this.parsePipeline();n.push(c)}',
    to: 'let c=this.parsePipeline();c.negated||c.timed||this.required(c.commands[0]);n.push(c)}',
  },
  {
    file: INTERPRETER_FILE,
    from: 'let a=t.slice(r,o),l=this.parseArithmeticExpression(a);',
    to: 's>0&&this.error("unexpected EOF while looking for matching `)\'");let a=t.slice(r,o),l=this.parseArithmeticExpression(a);',
  },
  // `for ((i = 0; i < 2))` had no end, and a loop without a body was none.
  {
    file: INTERPRETER_FILE,
    from: 'e.expect(E.DPAREN_END),o[0].trim()&&',
    to: 'e.expect(E.DPAREN_END),a+o.join("").split(";").length===3||e.error("syntax error: arithmetic expression required"),o[0].trim()&&',
  },
  {
    file: INTERPRETER_FILE,
    from: 'let o=e.parseCompoundList();e.expect(E.DONE);let a=',
    to: 'let o=e.parseCompoundList();o.length===0&&e.error("syntax error near unexpected token `done\'");e.expect(E.DONE);let a=',
  },
];
