#compdef bursar
# Completion of bursar for zsh. `bursar completion zsh` prints it.
_bursar() {
	local -a found
	local value about
	while IFS=$'\t' read -r value about; do
		found+=("${value//:/\\:}:$about")
	done < <("$words[1]" complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)
	if (( $#found )); then _describe bursar found; else _files; fi
}
compdef _bursar bursar
[[ "${funcstack[1]}" = _bursar ]] && _bursar
:
