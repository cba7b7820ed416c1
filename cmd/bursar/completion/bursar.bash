# Completion of bursar for bash. `bursar completion bash` prints it.
_bursar() {
	local line
	COMPREPLY=()
	while IFS=$'\t' read -r line _; do
		COMPREPLY+=("$line")
	done < <("${COMP_WORDS[0]}" complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _bursar bursar
