# Completion of bursar for fish. `bursar completion fish` prints it.
function __bursar_complete
	set -l words (commandline -opc) (commandline -ct)
	$words[1] complete -- $words[2..-1] 2>/dev/null
end
complete -c bursar -a '(__bursar_complete)'
