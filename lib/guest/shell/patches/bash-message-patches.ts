// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the syntax of what is changed.
/**
 * Patches of just-bash's messages and of how it finds programs: the line of an error, programs in PATH that may not be
 * run, and `<<` in `((…))`. bash-patches.ts applies them; `$lines` is error-lines.ts.
 */
import { type BashPatch, INTERPRETER_FILE, SHELLS_FILE } from './bash-patch.ts';

const WHICH = 'chunks/chunk-2SMD2AUA.js';

const change = (from: string, to: string): BashPatch => ({ file: INTERPRETER_FILE, from, to });

const LINE_PATCHES: readonly BashPatch[] = [
  // The lines of a script with a `#!` line were one less.
  { file: SHELLS_FILE, from: 'a!==-1&&(n=n.slice(a+1))', to: 'a!==-1&&(n=n.slice(a))' },
  // `shift 5` of fewer fails without a word.
  change('`bash: shift: shift count out of range\n`', '""'),
  change(
    'let A=o+S;if(A&&(v={...v,stderr:A+v.stderr})',
    'if(v.stderr)v={...v,stderr:$lines.placed(this.ctx.state,v.stderr,u,this.ctx.commands.has(u)||this.ctx.state.functions.has(u),t.line)};let A=o+S;if(A&&(v={...v,stderr:A+v.stderr})',
  ),
  change(
    'error:await rn(e,g,t.slice(0,y),s,i,a)}',
    'error:await rn(e,S?g:{...g,stderr:$lines.placed(e.state,g.stderr,"",!1)},t.slice(0,y),s,i,a)}',
  ),
  change(
    'let s=await nf(this.ctx,t);if(s.error)return s.error;',
    'let s=await nf(this.ctx,t);if(s.error)return{...s.error,stderr:$lines.placed(this.ctx.state,s.error.stderr,"",!1,t.line)};',
  ),
  change(
    'catch(s){if(r?.finish(),s instanceof Lt)return D(s.stderr);throw s}}async executeSimpleCommandInner(',
    'catch(s){if((s instanceof Ve||s instanceof ce||s instanceof G)&&s.stderr.startsWith("bash: "))s.stderr=$lines.placed(this.ctx.state,s.stderr,"",!1,t.line);if(r?.finish(),s instanceof Lt)return D(s.stderr);throw s}}async executeSimpleCommandInner(',
  ),
  change(
    'D(`bash: arithmetic expression: ${n.message}\n`)',
    'D($lines.placed(this.ctx.state,`bash: ((: ${$arithmetics.withSource(n,t.expression.originalText).message}\n`,"",!1,t.line))',
  ),
  change(
    'D(`bash: conditional expression: ${n.message}\n`,r)',
    'D($lines.placed(this.ctx.state,`bash: [[: ${n.message}\n`,"",!1,t.line),r)',
  ),
  change(
    'D(`bash: : command not found\n`,127)',
    'D($lines.placed(this.ctx.state,"bash: : command not found\\n","",!1,t.line),127)',
  ),
];

/** Statements know their line: an arithmetic error ends what stands on it. */
const STATEMENT_PATCHES: readonly BashPatch[] = [
  change(
    'if(this.skipNewlines(),!this.isCommandStart())return null;let t=this.current().start,n=[],r=[],s=!1,i=this.parsePipeline();',
    'if(this.skipNewlines(),!this.isCommandStart())return null;let $line=this.current().line,t=this.current().start,n=[],r=[],s=!1,i=this.parsePipeline();',
  ),
  change(
    'a=this._input.slice(t,o);return M.statement(n,r,s,void 0,a)}',
    'a=this._input.slice(t,o);return Object.assign(M.statement(n,r,s,void 0,a),{line:$line})}',
  ),
];

const PROGRAM_PATCHES: readonly BashPatch[] = [
  {
    file: WHICH,
    from: 'if(await e.fs.exists(i)&&(l=!0,',
    to: 'let $info=await e.fs.stat(i).catch(()=>null);if($info&&!$info.isDirectory&&($info.mode&73)!==0&&(l=!0,',
  },
  // A program in PATH that may not be run was not found.
  change(
    'let s=(n??e.state.env.get("PATH")??"/usr/bin:/bin").split(":");for(let o of s){',
    'let $refused,s=(n??e.state.env.get("PATH")??"/usr/bin:/bin").split(":");for(let o of s){',
  ),
  change('if(f&&d)return{cmd:f,path:l};if(u){', 'if(f&&d)return{cmd:f,path:l};u||($refused??=l);if(u){'),
  change(
    'if(o)return{cmd:o,path:`/usr/bin/${t}`}}return null}async function Fs(',
    'if(o)return{cmd:o,path:`/usr/bin/${t}`}}return $refused===void 0?null:{error:"permission_denied",path:$refused}}async function $inPath(e,t){let $refused;for(let $folder of(e.state.env.get("PATH")??"/usr/bin:/bin").split(":")){if(!$folder)continue;let $path=`${e.fs.resolvePath(e.state.cwd,$folder)}/${t}`,$info=await e.fs.stat($path).catch(()=>null);if(!$info||$info.isDirectory)continue;if(($info.mode&73)!==0)return $path;$refused??=$path}return $refused}async function Fs(',
  ),
  change(
    'if(a.isDirectory)return{error:"permission_denied",path:o};',
    'if(a.isDirectory)return{error:"directory",path:o};',
  ),
  change(
    'return c.error==="permission_denied"?D(`bash: ${t}: Permission denied\n`,126):',
    'return c.error==="directory"?D(`bash: ${t}: Is a directory\n`,126):c.error==="permission_denied"?D(`bash: ${t.includes("/")?t:c.path}: Permission denied\n`,126):',
  ),
  // `command -v` found no program of one's own.
  change(
    '}else r&&(i+=`${a}: not found\n`),o=1}return L(s,i,o)}',
    '}else{let $own=await $inPath(e,a);if($own!==void 0)s+=r?`${a} is ${$own}\n`:`${$own}\n`;else{if(r)i+=`bash: command: ${a}: not found\n`;o=1}}}return L(s,i,o)}',
  ),
  change('s+=`${a} is an alias for "${l}"\n`', "s+=`${a} is aliased to \\`${l}'\n`"),
];

/** `<<` in `((…))` began a here-document. */
const SHIFT_PATCHES: readonly BashPatch[] = [
  change(
    'if(i==="<"&&o==="<"&&a==="-")return this.pos',
    'if(i==="<"&&o==="<"&&a==="-"&&this.dparenDepth===0)return this.pos',
  ),
  change('for(let[u,f,d,p]of ud)if(', 'for(let[u,f,d,p]of this.dparenDepth>0?[]:ud)if('),
  change('if(i==="<"&&o==="<")return this.pos', 'if(i==="<"&&o==="<"&&this.dparenDepth===0)return this.pos'),
];

/** How a builtin is called, as bash 5.2 says it, and that `cd` takes no option but its own. */
const SYNOPSIS_PATCHES: readonly BashPatch[] = [
  change(
    'else if(t[i].startsWith("-")&&t[i]!=="-")i++;else break;let o=t.slice(i);',
    'else if(t[i].startsWith("-")&&t[i]!=="-"){let $wrong=/[^-LPe]/.exec(t[i].slice(1))?.[0]??/^-(-)/.exec(t[i])?.[1];if($wrong)return D(`bash: cd: -${$wrong}: invalid option\ncd: usage: cd [-L|[-P [-e]] [-@]] [dir]\n`,2);let $way=t[i].replace(/[^LP]/g,"").at(-1);if($way)s=$way==="P";i++}else break;let o=t.slice(i);if(o.length>1)return D(`bash: cd: too many arguments\n`,1);',
  ),
  change('"cd [-L|-P] [dir]"', '"cd [-L|[-P [-e]] [-@]] [dir]"'),
  change(
    '"declare [-aAfFgilnrtux] [-p] [name[=value] ...]"',
    '"declare [-aAfFgiIlnrtux] [name[=value] ...] or declare -p [-aAfFilnrtux] [name ...]"',
  ),
  change(
    '"typeset [-aAfFgilnrtux] [-p] name[=value] ..."',
    '"typeset [-aAfFgiIlnrtux] name[=value] ... or typeset -p [-aAfFilnrtux] [name ...]"',
  ),
  change('"exec [-cl] [-a name] [command [arguments ...]]', '"exec [-cl] [-a name] [command [argument ...]]'),
  change('"getopts optstring name [arg]"', '"getopts optstring name [arg ...]"'),
  change('": [arguments]"', '":"'),
];

export const MESSAGE_PATCHES: readonly BashPatch[] = [
  ...LINE_PATCHES,
  ...STATEMENT_PATCHES,
  ...PROGRAM_PATCHES,
  ...SHIFT_PATCHES,
  ...SYNOPSIS_PATCHES,
  // A directory that may not be entered.
  change(
    'try{if(!(await e.fs.stat(c)).isDirectory)return D(`bash: cd: ${n}: Not a directory\n`)}catch{return D(`bash: cd: ${n}: No such file or directory\n`)}}',
    'try{let $found=await e.fs.stat(c);if(!$found.isDirectory)return D(`bash: cd: ${n}: Not a directory\n`);if(!($found.mode&64))return D(`bash: cd: ${n}: Permission denied\n`)}catch($error){return D(`bash: cd: ${n}: ${$posix.reasonFor($error)??"No such file or directory"}\n`)}}',
  ),
];
