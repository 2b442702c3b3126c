# SPDX-License-Identifier: GPL-2.0
# bash completion of rxhook(8)

# A word is offered once, where it belongs.
_rxhook_words() {
	case $1 in
	attach) echo "dev queue obj sec prog pinned id replace" ;;
	detach) echo "dev queue" ;;
	show) echo "dev" ;;
	stats) echo "dev interval count" ;;
	*) echo "attach detach show stats help" ;;
	esac
}

_rxhook_devices() {
	local dev

	for dev in /sys/class/net/*; do
		echo "${dev##*/}"
	done
}

_rxhook_queues() {
	local dev=$1 queue

	for queue in /sys/class/net/"$dev"/queues/rx-*; do
		[ -e "$queue" ] && echo "${queue##*/rx-}"
	done
}

_rxhook() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
	local action="" dev="" words="" word i

	for ((i = 1; i < COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		[[ -z $action && $word != -* ]] && action=$word
		[[ ${COMP_WORDS[i - 1]} == dev ]] && dev=$word
	done
	COMPREPLY=()
	case $prev in
	dev) words=$(_rxhook_devices) ;;
	queue) words=$(_rxhook_queues "$dev") ;;
	obj | pinned) mapfile -t COMPREPLY < <(compgen -f -- "$cur"); return ;;
	sec | prog | id | interval | count) return ;;
	show | stats) words="dev $(_rxhook_devices)" ;;
	*)
		for word in $(_rxhook_words "$action"); do
			[[ " ${COMP_WORDS[*]:1:COMP_CWORD-1} " == *" $word "* ]] || words+=" $word"
		done
		;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
}

complete -F _rxhook rxhook
