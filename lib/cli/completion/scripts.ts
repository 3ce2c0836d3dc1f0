/**
 * What a shell reads to complete `winterdock`. Each asks the program itself at every Tab, so no list can be older than
 * the program. A line of the answer is a word, a tab and what it is; `:files` means names of files here.
 */

const BASH = String.raw`# Completion of winterdock for bash. Load it with: source <(winterdock completion bash)
_winterdock() {
  local line word files= current
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ $line == ':files' ]]; then files=1; continue; fi
    word=${'$'}{line%%$'\t'*}
    if [[ -n $word ]]; then COMPREPLY+=("$word"); fi
  done < <("$1" completion --breaks "$COMP_WORDBREAKS" candidates -- "${'$'}{COMP_WORDS[@]:1:COMP_CWORD}" 2> /dev/null)
  if [[ -n $files ]]; then
    current=${'$'}{COMP_WORDS[COMP_CWORD]}
    while IFS= read -r word; do
      if [[ -d $word ]]; then word+=/; fi
      printf -v word %q "$word"
      COMPREPLY+=("$word")
    done < <(compgen -f -- "$current")
  fi
  if [[ ${'$'}{#COMPREPLY[@]} -eq 1 && ${'$'}{COMPREPLY[0]} == *[/:] ]]; then compopt -o nospace; fi
}
complete -F _winterdock winterdock
`;

const ZSH = String.raw`#compdef winterdock
# Completion of winterdock for zsh. Load it with: source <(winterdock completion zsh)
_winterdock() {
  local line word files
  local -a described open
  while IFS= read -r line; do
    if [[ $line == ':files' ]]; then files=1; continue; fi
    word=${'$'}{line%%$'\t'*}
    if [[ -z $word ]]; then continue; fi
    if [[ $word == *[/:] ]]; then open+=("$word"); continue; fi
    described+=("${'$'}{word//:/\\:}:${'$'}{line#*$'\t'}")
  done < <("${'$'}{words[1]}" completion candidates -- "${'$'}{(@)words[2,CURRENT]}" 2> /dev/null)
  (( ${'$'}{#described} )) && _describe winterdock described
  (( ${'$'}{#open} )) && compadd -S '' -a open
  if [[ -n $files ]]; then _files; fi
}
compdef _winterdock winterdock
`;

const FISH = `# Completion of winterdock for fish. Load it with: winterdock completion fish | source
function __winterdock_complete
    set -l words (commandline -opc) (commandline -ct)
    for line in (winterdock completion candidates -- $words[2..-1] 2> /dev/null)
        if test "$line" = ':files'
            __fish_complete_path (commandline -ct)
        else
            echo -- $line
        end
    end
end
complete -c winterdock -f -a '(__winterdock_complete)'
`;

export const COMPLETION_SCRIPTS: Readonly<Record<string, string>> = { bash: BASH, zsh: ZSH, fish: FISH };
