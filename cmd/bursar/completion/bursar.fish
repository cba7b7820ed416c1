# Completion of bursar for fish. `bursar completion fish` prints it.
function __bursar_complete
	set -l words (commandline -opc) (commandline -ct)
	set -l found ($words[1] complete -- $words[2..-1] 2>/dev/null)
	if set -q found[1]
		printf '%s\n' $found
	else # a file, such as that of --config
		__fish_complete_path (commandline -ct)
	end
end
complete -c bursar -f -a '(__bursar_complete)'
